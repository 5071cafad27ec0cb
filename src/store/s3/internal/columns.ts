import type { TileX, TileY } from "../../../grid/grid-set.ts";
import type { S3Client } from "../s3-client.ts";
import { type KeyLevel, levelPrefix, parseTile } from "./s3-keys.ts";
import type { ListedObject } from "./s3-xml.ts";

/** A tile found by a listing. */
export interface ListedTile extends ListedObject {
  readonly x: TileX;
  readonly y: TileY;
}

/** The most keys that one list request returns. */
const MOST_KEYS = 1_000;
/**
 * The keys that a list request reads per row of a span: the row, and up to eleven keys between it and the next row
 * (`12`, `120` to `129`, `13`). Rows with two more digits are read by the next request.
 */
const KEYS_PER_ROW = 12;

interface Span {
  readonly first: number;
  readonly last: number;
}

/**
 * Splits a span into spans of numbers with the same number of digits, because only such numbers have the same order as
 * text.
 */
function spansByDigits({ first, last }: Span): Span[] {
  const spans: Span[] = [];
  for (let from = first; from <= last; ) {
    const end = 10 ** String(from).length - 1;
    spans.push({ first: from, last: Math.min(last, end) });
    from = end + 1;
  }
  return spans;
}

/**
 * Yields the tiles in one column of a level within a span of rows, a page at a time. Keys are ordered as text, so keys
 * of other rows lie between them (`12`, `120`, `13`) and are skipped. An empty object is not a tile.
 */
export async function* columnTiles(
  client: S3Client,
  level: KeyLevel,
  x: TileX,
  rows: Span,
): AsyncGenerator<ListedTile[]> {
  const prefix = `${levelPrefix(level)}${x}/`;
  const spans = spansByDigits(rows);
  // Reading each span separately would read most of the column several times.
  const isWhole = spans.length > 2;
  for (const { first, last } of isWhole ? [rows] : spans) {
    const end = `${prefix}${last}/`;
    const part = { startAfter: `${prefix}${first}`, limit: Math.min(MOST_KEYS, KEYS_PER_ROW * (last - first + 1)) };
    for await (const page of client.list({ prefix, ...(isWhole ? {} : part) })) {
      const tiles: ListedTile[] = [];
      for (const object of page.objects) {
        const at = parseTile(level, object.key);
        if (at === undefined || object.bytes === 0 || at.y < first || at.y > last) continue;
        tiles.push({ ...object, ...at });
      }
      if (tiles.length > 0) yield tiles;
      const lastKey = page.objects.at(-1)?.key ?? "";
      // "/" follows "." directly, so all keys `<last>.<extension>` come before this key.
      if (!isWhole && lastKey >= end) break;
    }
  }
}
