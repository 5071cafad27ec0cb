import type { Raster } from "../../src/image/raster.ts";
import { TILE_SIDE } from "./configuration.ts";

/** What the upstream shows in each of its tiles. */
export interface Shown {
  /** Tells apart the tiles of all layers, levels, styles and places, below 256. */
  readonly place: number;
  /** The version of the data. */
  readonly version: number;
}

const VERSIONS = 2 ** 16;
/** The place of PLTE's first colour in the PNG of a tile of one colour. */
const COLOUR_AT = 8 + 25 + 8;

export function placeOf(layer: string, style: string, z: number, x: number, y: number): number {
  let hash = 7;
  for (const part of [layer.charCodeAt(0), style.length, z, x, y]) hash = (Math.imul(hash, 31) + part * 7919) >>> 0;
  return (hash ^ (hash >>> 8) ^ (hash >>> 16)) & 255;
}

/** Makes a picture in which each tile has one colour, which tells what it shows. Such tiles are encoded at once. */
export function pictureOf(columns: number, rows: number, shown: (column: number, row: number) => Shown): Raster {
  const width = columns * TILE_SIDE;
  const data = Buffer.alloc(width * rows * TILE_SIDE * 3);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      const { place, version } = shown(column, row);
      for (let y = 0; y < TILE_SIDE; y++)
        for (let x = 0; x < TILE_SIDE; x++) {
          const at = ((row * TILE_SIDE + y) * width + column * TILE_SIDE + x) * 3;
          data[at] = place;
          data[at + 1] = (version >>> 8) & 255;
          data[at + 2] = version & 255;
        }
    }
  return { width, height: rows * TILE_SIDE, channels: 3, data };
}

/** Makes a tile of data whose size depends on its place and version. */
export function dataOf({ place, version }: Shown): Uint8Array {
  const size = 16 + (((Math.imul(place + 1, 2654435761) ^ Math.imul(version, 40503)) >>> 0) % 9000);
  const bytes = new Uint8Array(size).fill(place);
  new DataView(bytes.buffer).setUint32(0, version);
  bytes[4] = place;
  bytes[size - 1] = version & 255;
  return bytes;
}

/** Returns what a stored tile shows. Undefined if the tile is not whole. */
export function shownBy(bytes: Uint8Array): Shown | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes[0] === 0x89) {
    const [place, high, low] = bytes.subarray(COLOUR_AT, COLOUR_AT + 3);
    const isWhole = bytes.byteLength > 60 && view.getUint32(bytes.byteLength - 4) === 0xae426082;
    if (!isWhole || place === undefined || high === undefined || low === undefined) return undefined;
    return { place, version: high * 256 + low };
  }
  if (bytes.byteLength < 16) return undefined;
  const shown = { place: bytes[4] ?? 0, version: view.getUint32(0) };
  return dataOf(shown).byteLength === bytes.byteLength && bytes.at(-1) === (shown.version & 255) ? shown : undefined;
}

/** Throws before versions would repeat in pictures. */
export function checkVersion(version: number): void {
  if (version >= VERSIONS) throw new RangeError("a simulation has too many versions of the data");
}
