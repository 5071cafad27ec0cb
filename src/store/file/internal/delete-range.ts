import { join } from "node:path";
import PQueue from "p-queue";
import { rectCount, rectHolds, type TileRect, type TileX, type TileY, type Zoom } from "../../../grid/grid-set.ts";
import { formatOfExtension } from "../../../layer/format.ts";
import type { FormatName } from "../../../layer/tile-set.ts";
import type { Disk } from "../../../lib/file/disk.ts";
import { pagesOf } from "../../../lib/pages.ts";
import { isAbsent, storeError } from "../../internal/faults.ts";
import { syncDirectory } from "../../internal/sync-directories.ts";
import type { Deleted, DeletionListener } from "../../truncation-store.ts";
import type { LevelDirectory, TileLayout } from "./tile-layout.ts";

/** The most concurrent calls. More would occupy all of libuv's few threads, and no tiles could be served. */
const PARALLEL = 4;
/** The names of up to this many tiles are computed. For more tiles the directories are listed. */
const FEW_TILES = 4_096n;
/** The number of tiles in one call of the listener. */
const CHUNK = 512;

interface Candidate {
  readonly path: string;
  readonly x: TileX;
  readonly y: TileY;
  readonly format: FormatName;
}

/** Selects tiles of a rectangle. */
interface Choice {
  /** The extension of the format. Undefined means every format. */
  readonly extension: string | undefined;
  readonly chosen: (x: TileX, y: TileY) => boolean;
}

/** Removes tiles of a rectangle in the directory of a level. */
export async function deleteRange(
  disk: Disk,
  layout: TileLayout,
  level: LevelDirectory,
  rect: TileRect,
  choice: Choice,
  listener: DeletionListener,
  signal: AbortSignal,
): Promise<void> {
  const candidates =
    choice.extension !== undefined && rectCount(rect) <= FEW_TILES
      ? named(layout, level, rect, choice.extension, choice)
      : listed(disk, layout, level, rect, choice);
  let hasDeleted = false;
  for await (const { bucket, tiles } of candidates) {
    let isChanged = false;
    for (const some of pagesOf(tiles, CHUNK)) {
      signal.throwIfAborted();
      if (await deleteChunk(disk, some, rect.z, listener, signal)) isChanged = true;
    }
    // A loss of power must not bring back tiles of a truncate that has ended.
    if (isChanged) await syncDirectory(disk, bucket);
    hasDeleted ||= isChanged;
    // `rmdir` removes the bucket only if it is empty.
    await disk.rmdir(bucket).catch(() => undefined);
  }
  // The level stays if it has tiles outside of the range.
  await disk.rmdir(level.path).catch(() => undefined);
  if (hasDeleted) await syncDirectory(disk, level.path);
  signal.throwIfAborted();
}

/** Returns whether a tile was found. */
async function deleteChunk(
  disk: Disk,
  tiles: readonly Candidate[],
  z: Zoom,
  listener: DeletionListener,
  signal: AbortSignal,
): Promise<boolean> {
  const found: { readonly path: string; readonly deleted: Deleted }[] = [];
  await inParallel(tiles, async ({ path, x, y, format }) => {
    const entry = await disk.lstat(path).catch(ignoreAbsent);
    // A link is removed, not its target. The ledger has counted the size of the link's target. A link without a target
    // is removed too.
    const at = entry?.isSymbolicLink() === true ? await disk.stat(path).catch(() => entry) : entry;
    if (at?.isFile() === true || at?.isSymbolicLink() === true)
      found.push({ path, deleted: { format, x, y, z, bytes: at.size } });
  });
  if (found.length === 0) return false;
  await listener.willDelete(found.map(({ deleted }) => deleted));
  await inParallel(found, async ({ path, deleted }) => {
    if (signal.aborted) return;
    const gone = await disk.unlink(path).then(() => true, ignoreAbsent);
    if (gone === true && deleted.bytes > 0) listener.onDeleted(deleted);
  });
  return true;
}

function ignoreAbsent(error: unknown): undefined {
  if (!isAbsent(error)) throw storeError(error, "a tile cannot be removed");
  return undefined;
}

/** Processes all items even if some fail, and then throws the first error. */
async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = new PQueue({ concurrency: PARALLEL });
  const ended = await Promise.allSettled(items.map((item) => queue.add(() => work(item))));
  for (const end of ended) if (end.status === "rejected") throw end.reason;
}

async function* named(
  layout: TileLayout,
  { path: directory, rows }: LevelDirectory,
  rect: TileRect,
  extension: string,
  { chosen }: Choice,
) {
  const format = formatOfExtension(extension)?.mimeType;
  if (format === undefined) return;
  const buckets = new Map<string, Candidate[]>();
  for (let y = rect.minY; y <= rect.maxY; y++) {
    for (let x = rect.minX; x <= rect.maxX; x++) {
      if (!chosen(x, y)) continue;
      const bucket = join(directory, layout.bucket(x, y, rect.z));
      const tile = { path: join(bucket, layout.file(x, y, rect.z, extension, rows)), x, y, format };
      const tiles = buckets.get(bucket);
      if (tiles === undefined) buckets.set(bucket, [tile]);
      else tiles.push(tile);
    }
  }
  for (const [bucket, tiles] of buckets) yield { bucket, tiles };
}

async function* listed(
  disk: Disk,
  layout: TileLayout,
  { path: directory, rows }: LevelDirectory,
  rect: TileRect,
  { extension, chosen }: Choice,
) {
  for (const name of await list(disk, directory)) {
    if (!layout.touches(name, rect)) continue;
    const bucket = join(directory, name);
    const tiles: Candidate[] = [];
    for (const file of await list(disk, bucket)) {
      const tile = layout.parse(name, file, rows);
      if (tile === undefined || !rectHolds(rect, tile.x, tile.y) || !chosen(tile.x, tile.y)) continue;
      const found = tile.extension.toLowerCase();
      const format = formatOfExtension(found)?.mimeType;
      if (format === undefined || (extension !== undefined && found !== extension)) continue;
      tiles.push({ path: join(bucket, file), x: tile.x, y: tile.y, format });
    }
    yield { bucket, tiles };
  }
}

const list = (disk: Disk, directory: string): Promise<string[]> =>
  disk.readdir(directory).catch((error: unknown) => {
    if (isAbsent(error)) return [];
    throw storeError(error, "a directory cannot be listed");
  });
