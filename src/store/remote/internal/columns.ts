import type { TileX, TileY } from "../../../grid/grid-set.ts";
import type { Bucket, ListedObject, ListQuery } from "../bucket.ts";
import { type KeyLevel, levelPrefix, parseTile } from "./keys.ts";

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

/** A part of a column, and how it is listed. */
interface Part extends Span {
  readonly query: ListQuery;
  /** No later key belongs to the part. */
  readonly end?: string;
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

/** Lists a span of rows from its first key to its last one. */
const fromFirst = (prefix: string, { first, last }: Span): Part => ({
  first,
  last,
  query: {
    prefix,
    startAfter: `${prefix}${first}`,
    limit: Math.min(MOST_KEYS, KEYS_PER_ROW * (last - first + 1)),
  },
  // "/" follows "." directly, so all keys `<last>.<extension>` come before this key.
  end: `${prefix}${last}/`,
});

/**
 * Lists a span of rows by the beginnings of their numbers, where a listing cannot begin after a key: tens of rows, and
 * each row of one digit alone.
 */
function* byBeginnings(prefix: string, { first, last }: Span): Generator<Part> {
  const unit = last < 10 ? 1 : 10;
  for (let from = first - (first % unit); from <= last; from += unit)
    yield {
      first: Math.max(first, from),
      last: Math.min(last, from + unit - 1),
      query: { prefix: `${prefix}${unit === 1 ? `${from}.` : from / unit}` },
    };
}

function partsOf(bucket: Bucket, prefix: string, rows: Span): readonly Part[] {
  const spans = spansByDigits(rows);
  // Reading each span separately would read most of the column several times.
  if (spans.length > 2) return [{ ...rows, query: { prefix } }];
  if (bucket.listsAfter) return spans.map((span) => fromFirst(prefix, span));
  return spans.flatMap((span) => [...byBeginnings(prefix, span)]);
}

/**
 * Yields the tiles in one column of a level within a span of rows, a page at a time. Keys are ordered as text, so keys
 * of other rows lie between them (`12`, `120`, `13`) and are skipped. An empty object is not a tile.
 */
export async function* columnTiles(
  bucket: Bucket,
  level: KeyLevel,
  x: TileX,
  rows: Span,
): AsyncGenerator<ListedTile[]> {
  for (const { first, last, query, end } of partsOf(bucket, `${levelPrefix(level)}${x}/`, rows)) {
    for await (const page of bucket.list(query)) {
      const tiles: ListedTile[] = [];
      for (const object of page.objects) {
        const at = parseTile(level, object.key);
        if (at === undefined || object.bytes === 0 || at.y < first || at.y > last) continue;
        tiles.push({ ...object, ...at });
      }
      if (tiles.length > 0) yield tiles;
      const lastKey = page.objects.at(-1)?.key ?? "";
      if (end !== undefined && lastKey >= end) break;
    }
  }
}
