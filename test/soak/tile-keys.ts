import { sep } from "node:path";
import type { Chance } from "./chance.ts";

/** `z/x/y` of EPSG:900913, y from the bottom, as the store and the list of failures count. */
export type TileKey = string;

/** Tiles of one level. */
export interface Rect {
  readonly z: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const WORLD = 20037508.34;

export function tilesOf({ z, x, y, width, height }: Rect): TileKey[] {
  return Array.from({ length: width * height }, (_, n) => `${z}/${x + (n % width)}/${y + Math.floor(n / width)}`);
}

/** Returns minx, miny, maxx, maxy, shrunk by a tenth of a tile on each side so that no neighbouring tile is touched. */
export function boundsOf({ z, x, y, width, height }: Rect): [number, number, number, number] {
  const at = (n: number): number => -WORLD + (2 * WORLD * n) / 2 ** z;
  return [at(x + 0.1), at(y + 0.1), at(x + width - 0.1), at(y + height - 0.1)];
}

export function randomRect({ below }: Chance, z: number, most: number, within = 2 ** z): Rect {
  const [width, height] = [1 + below(most), 1 + below(most)];
  return { z, x: below(within - width + 1), y: below(within - height + 1), width, height };
}

/** Returns a key as the `tiles` of a job request have it: y from the top. */
export function fromTop(key: TileKey): string {
  const [z = 0, x = 0, y = 0] = key.split("/").map(Number);
  return `${z}/${x}/${2 ** z - 1 - y}`;
}

/** Returns the layer and key of a file of the store, for any parameters; undefined: the file is not of EPSG:900913. */
export function keyOfFile(file: string): { readonly layer: string; readonly key: TileKey } | undefined {
  const found = /tiles\/([^/]+)\/EPSG_900913_(\d+)(?:_[0-9a-f]{40})?\/[^/]+\/(\d+)_(\d+)\.png$/.exec(
    file.split(sep).join("/"),
  );
  if (found?.[1] === undefined) return undefined;
  return { layer: found[1], key: found.slice(2).map(Number).join("/") };
}

/** Returns the level and the lower left tile of a request to the upstream. */
export function metatileOf(bbox: string, width: number): { readonly z: number; readonly key: TileKey } {
  const [minX = 0, minY = 0, maxX = 0] = bbox.split(",").map(Number);
  const side = (maxX - minX) / (width / 64);
  const z = Math.round(Math.log2((2 * WORLD) / side));
  const at = (n: number): number => Math.round((n + WORLD) / side);
  return { z, key: `${z}/${at(minX)}/${at(minY)}` };
}
