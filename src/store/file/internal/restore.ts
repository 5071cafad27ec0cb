import { existsSync, mkdirSync, readdirSync, renameSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { formatOfExtension } from "../../../layer/format.ts";
import type { TileAddress } from "../../../layer/tile-set.ts";
import { bucketDirectory, parsePair, parseZoomDirectory, tileFile } from "../file-layout.ts";
import { isAbsent, storeError } from "./faults.ts";

/** Files moved before the restoration yields to other work. */
const CHUNK = 256;

export interface Restoring {
  readonly layer: string;
  readonly gridSetOf: (directory: string) => string;
  /** The path of the directory that was set aside. */
  readonly aside: string;
  /** The path where the directory was before. */
  readonly live: string;
  /** Takes a path that has no use any more. */
  readonly rubbish: (path: string) => void;
}

/** Brings back a layer's directory: as a whole, or level by level if a new directory is in its place. */
export function* restoreLayer(restoring: Restoring): Generator<readonly TileAddress[]> {
  const { aside, live, rubbish } = restoring;
  if (comesWhole(restoring)) return;
  for (const name of list(aside)) {
    const inside = { ...restoring, aside: join(aside, name), live: join(live, name) };
    if (parseZoomDirectory(name) !== undefined) yield* restoreLevel(inside);
    else if (!existsSync(inside.live)) move(inside.aside, inside.live);
  }
  rubbish(aside);
}

/**
 * Brings back a zoom directory. Moves tiles that were stored since into the directory that was set aside, which then
 * replaces the newer one. The old tiles, which may be millions, are never listed. A reader finds the old tile, the new
 * one or, until the last rename, none; never half of one.
 */
export function* restoreLevel(restoring: Restoring): Generator<readonly TileAddress[]> {
  const { aside, live, rubbish } = restoring;
  const zoom = parseZoomDirectory(basename(live));
  if (zoom === undefined || comesWhole(restoring)) return;
  const { z, parametersId } = zoom;
  const pyramid = { layer: restoring.layer, gridSet: restoring.gridSetOf(zoom.gridSetDirectory), parametersId };
  for (const bucket of list(live)) {
    const [from, to] = [join(live, bucket), join(aside, bucket)];
    const tiles = list(from).flatMap((name) => {
      const tile = tileNamed(name, bucket, z);
      return tile === undefined ? [] : [{ name, ...tile }];
    });
    const isWhole = tiles.length > 0 && !existsSync(to);
    if (isWhole) move(from, to);
    for (let first = 0; first < tiles.length; first += CHUNK) {
      const chunk = tiles.slice(first, first + CHUNK);
      // An empty file is absent, so it must not replace a tile.
      const moved = isWhole ? chunk : chunk.filter(({ name }) => moveTile(join(from, name), join(to, name)));
      yield moved.map(({ format, x, y }) => ({ tileSet: { ...pyramid, format }, x, y, z }));
    }
  }
  rubbish(live);
  move(aside, live);
}

/** Whether nothing has come into its place, or nothing is left to be done. */
function comesWhole({ aside, live }: Restoring): boolean {
  if (!existsSync(aside)) return true;
  if (existsSync(live)) return false;
  mkdirSync(dirname(live), { recursive: true });
  move(aside, live);
  return true;
}

function moveTile(from: string, to: string): boolean {
  if ((statSync(from, { throwIfNoEntry: false })?.size ?? 0) === 0) return false;
  move(from, to);
  return true;
}

function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    throw storeError(error, "what was truncated cannot be brought back");
  }
}

function tileNamed(name: string, bucket: string, z: number) {
  const tile = parsePair(name);
  const format = tile === undefined ? undefined : formatOfExtension(tile.extension);
  if (tile === undefined || format?.extension !== tile.extension) return undefined;
  const { x, y, extension } = tile;
  if (tileFile(x, y, z, extension) !== name || bucketDirectory(x, y, z) !== bucket) return undefined;
  return { format: format.mimeType, x, y };
}

function list(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw storeError(error, "a directory cannot be listed");
  }
}
