import { asTileX, asZoom, type TileX, type Zoom } from "../../../grid/grid-set.ts";
import { isMap } from "../../../lib/is-map.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";

/*
 * Several tiles as one body: a line of JSON with `tiles`, a list of names and sizes in bytes, then the bytes of the
 * tiles in the same order. A name is z/x/y with y from the top, as in all of `/api/v1`.
 */

export const PACK_TYPE = "application/octet-stream";

/** Returns the description of a pack in the OpenAPI document. */
export const packJson = (description: string) => ({
  description,
  content: { [PACK_TYPE]: { schema: { type: "string", format: "binary" } } },
});

export interface PackedTile {
  /** `z/x/y`, y from the top. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** @param head further fields of the first line */
export function encodePack(tiles: readonly PackedTile[], head: object = {}): Uint8Array<ArrayBuffer> {
  const names = tiles.map(({ name, bytes }) => [name, bytes.byteLength]);
  return Buffer.concat([
    Buffer.from(`${JSON.stringify({ ...head, tiles: names })}\n`, "utf8"),
    ...tiles.map(({ bytes }) => bytes),
  ]);
}

export interface Pack {
  readonly tiles: readonly PackedTile[];
  /** The first line. */
  readonly head: Readonly<Record<string, unknown>>;
}

/** Decodes a body. The tiles are views of its bytes. The error describes the fault. */
export function decodePack(body: Uint8Array, mostTiles: number): Result<Pack, string> {
  const end = body.indexOf(0x0a);
  const head = end < 0 ? undefined : parseLine(body.subarray(0, end));
  const list = head?.["tiles"];
  if (head === undefined || !Array.isArray(list))
    return refuse('expected a line of JSON, {"tiles": [["z/x/y", bytes], …]}, and the bytes of the tiles behind it');
  if (list.length > mostTiles) return refuse(`expected at most ${mostTiles} tiles, got ${list.length}`);
  const tiles: PackedTile[] = [];
  let at = end + 1;
  for (const item of list) {
    const [name, size] = Array.isArray(item) ? item : [];
    if (typeof name !== "string" || typeof size !== "number" || !Number.isSafeInteger(size) || size < 0)
      return refuse(`expected ["z/x/y", bytes] for each tile, got ${JSON.stringify(item)?.slice(0, 100)}`);
    if (at + size > body.byteLength)
      return refuse(`the body ends within the tile ${JSON.stringify(name.slice(0, 40))}`);
    tiles.push({ name, bytes: body.subarray(at, at + size) });
    at += size;
  }
  return at === body.byteLength ? ok({ tiles, head }) : refuse(`${body.byteLength - at} bytes belong to no tile`);
}

function parseLine(line: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(line));
    return isMap(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Parses the name of a tile. Undefined if the text is not such a name. */
export function parseTileName(
  name: string,
): { readonly z: Zoom; readonly x: TileX; readonly fromTop: number } | undefined {
  const [, z, x, y] = /^(\d{1,2})\/(\d{1,10})\/(\d{1,10})$/.exec(name) ?? [];
  return z === undefined ? undefined : { z: asZoom(Number(z)), x: asTileX(Number(x)), fromTop: Number(y) };
}
