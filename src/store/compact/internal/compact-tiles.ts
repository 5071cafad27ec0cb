import type { TileAddress } from "../../../layer/tile-set.ts";
import { codeOf } from "../../../lib/error-code.ts";
import { storeError } from "../../internal/faults.ts";
import type { LocalStore } from "../../store.ts";
import { deleteEach, type PutOutcome, StoreError } from "../../tile-store.ts";
import {
  encodeEntry,
  entryAt,
  MAX_TILE_BYTES,
  newRecord,
  newTime,
  readEntry,
  readRecord,
  recordBytes,
  unusedBytes,
} from "./bundle.ts";
import { syncIf, writeAll } from "./bundle-file.ts";
import type { BundleReader } from "./bundle-reader.ts";
import type { BundleWriter, OpenBundle } from "./bundle-writer.ts";
import { describeLevel } from "./cache-description.ts";
import { type CompactPaths, placeOf } from "./compact-paths.ts";

/** The objects that the parts of a compact store share. */
export interface CompactParts {
  readonly paths: CompactPaths;
  readonly reader: BundleReader;
  readonly writer: BundleWriter;
}

type Reads = Pick<LocalStore, "keyOf" | "get" | "stat" | "allocated">;
type Writes = Pick<LocalStore, "put" | "confirm" | "delete">;

/** Returns the methods that read and write tiles in bundles. */
export function compactTiles(parts: CompactParts): Reads & Writes & Pick<LocalStore, "deleteAll"> {
  const writes = writesOf(parts);
  return { ...readsOf(parts), ...writes, deleteAll: (all) => deleteEach(all, writes.delete) };
}

const placeIn = (paths: CompactPaths, { tileSet, x, y, z }: TileAddress) => placeOf(paths.level(tileSet, z), x, y);

function readsOf({ paths, reader }: CompactParts): Reads {
  const { disk } = paths;
  const read = (at: TileAddress, part: "whole" | "head") => {
    const place = placeIn(paths, at);
    if (place === undefined) return undefined;
    return reader.read(place.bundle.path, (file) => {
      const entry = readEntry(disk, file, place.index);
      const record = entry && readRecord(disk, file, entry, part);
      return entry && record && { entry, record };
    });
  };
  return {
    keyOf(at) {
      const place = placeIn(paths, at);
      const tile = `${at.z}/${at.x}/${at.y}`;
      return `${(place?.bundle.path ?? paths.levelPath(at.tileSet, at.z)).slice(paths.root.length + 1)}#${tile}`;
    },

    get(at) {
      const found = read(at, "whole");
      return found && { bytes: found.record.tile, modifiedMs: found.record.modifiedMs };
    },

    stat(at) {
      const found = read(at, "head");
      if (found === undefined) return undefined;
      const { modifiedMs, confirmedMs } = found.record;
      return { bytes: found.entry.size, modifiedMs, confirmedMs };
    },

    allocated: recordBytes,
  };
}

function writesOf({ paths, writer }: CompactParts): Writes {
  const { disk, clock } = paths;
  return {
    /**
     * Async only because the interface is: the put runs in the caller's turn of the event loop, and generations rely on
     * that.
     */
    async put(at, bytes, { guard, modifiedMs }, signal) {
      signal.throwIfAborted();
      const { tileSet, z, x, y } = at;
      const level = paths.level(tileSet, z);
      const place = placeOf(level, x, y);
      if (place === undefined || level.rows === undefined)
        throw new StoreError("corrupt", `the grid set ${tileSet.gridSet} has no tile ${z}/${x}/${y}`, undefined);
      if (bytes.byteLength > MAX_TILE_BYTES)
        throw new StoreError("corrupt", `a bundle has no place for a tile of ${bytes.byteLength} bytes`, undefined);
      if (!guard()) return { stored: false };
      const { path, rows } = level;
      try {
        return writer.run(() => {
          const bundle = writer.open(place.bundle.path, () => describeLevel(paths, tileSet, { path, rows }));
          if (bundle === undefined) throw new Error("a bundle has not been made");
          return append({ bundle, index: place.index, bytes, guard, paths, modifiedMs });
        });
      } catch (error) {
        paths.expectPresent(tileSet.layer, level.path);
        throw error instanceof StoreError ? error : storeError(error, "a tile cannot be written");
      }
    },

    confirm(at, bytes, { time, guard }, signal) {
      if (signal.aborted) return false;
      const place = placeIn(paths, at);
      if (place === undefined || !guard()) return false;
      try {
        return writer.run(() => {
          const file = writer.open(place.bundle.path, undefined)?.file;
          const entry = file === undefined ? undefined : readEntry(disk, file, place.index);
          if (file === undefined || entry === undefined || entry.size !== bytes.byteLength) return false;
          const record = readRecord(disk, file, entry, "whole");
          if (record === undefined || Buffer.compare(record.tile, bytes) !== 0 || !guard()) return false;
          // A record of another program has no field for times.
          if (record.checksum === undefined) return time === "keep";
          const now = clock.now();
          for (const of of time === "renew" ? (["modified", "confirmed"] as const) : (["confirmed"] as const)) {
            const { bytes: written, position } = newTime(entry, of, now);
            writeAll(disk, file, written, position);
          }
          return true;
        });
      } catch {
        // The put after this confirmation reports the fault.
        return false;
      }
    },

    delete(at) {
      const level = paths.level(at.tileSet, at.z);
      const place = placeOf(level, at.x, at.y);
      if (place === undefined) return undefined;
      try {
        return writer.run(() => {
          const [size] = writer.remove(place.bundle.path, [place.index], paths.fsync);
          if (size === undefined) paths.expectPresent(at.tileSet.layer, level.path);
          return size;
        });
      } catch (error) {
        if (codeOf(error) === "ENOTDIR") return undefined;
        throw error instanceof StoreError ? error : storeError(error, "a tile cannot be removed");
      }
    },
  };
}

interface Append {
  readonly bundle: OpenBundle;
  readonly index: number;
  readonly bytes: Uint8Array;
  readonly guard: () => boolean;
  readonly paths: CompactPaths;
  readonly modifiedMs: number | undefined;
}

/**
 * Appends a tile to a bundle: first the record, then its entry. A kill in between leaves unused bytes and the old tile.
 */
function append({ bundle, index, bytes, guard, paths, modifiedMs }: Append): PutOutcome {
  const { disk } = paths;
  const { file, counts } = bundle;
  const before = readEntry(disk, file, index);
  const now = paths.clock.now();
  const record = newRecord(bytes, { modifiedMs: modifiedMs ?? now, confirmedMs: now }, counts.end);
  const end = record.position + record.bytes.byteLength;
  writeAll(disk, file, record.bytes, record.position);
  const largestTile = Math.max(counts.largestTile, bytes.byteLength);
  bundle.counts = { largestTile, unused: counts.unused + unusedBytes(record.entry), fileBytes: end, end };
  syncIf(paths, file);
  if (!guard()) return { stored: false };
  writeAll(disk, file, encodeEntry(record.entry), entryAt(index));
  syncIf(paths, file);
  const unused = counts.unused + (before === undefined ? 0 : unusedBytes(before));
  bundle.counts = { ...bundle.counts, unused };
  return { stored: true, replaced: before?.size };
}
