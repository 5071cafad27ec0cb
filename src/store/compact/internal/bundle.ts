import { crc32 } from "node:zlib";
import type { Disk } from "../../../lib/file/disk.ts";
import { readBytes } from "../../internal/regular-file.ts";

/*
 * A bundle of ESRI's Compact Cache V2
 * (https://github.com/Esri/raster-tiles-compactcache/blob/master/CompactCacheV2.md): a header of 64 bytes, an index of
 * 128 x 128 entries of 8 bytes, and records. All numbers are little endian. An entry has the position of a tile in its
 * lower 40 bits and the size of the tile in its upper 24 bits; a size of 0 means no tile. A record is the size of the
 * tile, as 4 bytes, and the tile.
 *
 * Nuthatch writes an additional head before a record. Other programs do not read it, because they follow the index.
 */

/** The number of tiles on a side of a bundle. */
export const SIDE = 128;
const TILES = SIDE * SIDE;
const HEADER_BYTES = 64;
const ENTRY_BYTES = 8;
/** The bytes of header and index. Records begin here. */
export const DATA_START = HEADER_BYTES + TILES * ENTRY_BYTES;
/** The largest tile that an entry can describe. */
export const MAX_TILE_BYTES = 2 ** 24 - 1;
const SIZE_BYTES = 4;
/**
 * The head that Nuthatch writes before a record: a mark, a checksum of the tile, the time of the last write and the
 * time of the last confirmation, ms since 1970. A head begins at a multiple of 8, so that a time is replaced
 * atomically.
 */
const HEAD_BYTES = 24;
const MARK = 0x4854_554e;
/** The bytes of a record before its tile. */
const PREFIX_BYTES = HEAD_BYTES + SIZE_BYTES;
const CONFIRMED_AT = 16;

/** Returns the bytes that a tile occupies in a bundle, including its entry in the index. */
export const recordBytes = (tileBytes: number): number => aligned(PREFIX_BYTES + tileBytes) + ENTRY_BYTES;
const aligned = (n: number): number => Math.ceil(n / 8) * 8;

/** The position and size of a tile in its bundle. */
export interface Entry {
  /** The position of the first byte of the tile. */
  readonly offset: number;
  /** In bytes, more than 0. */
  readonly size: number;
}

/**
 * Returns the header and the empty index of a new bundle. The index is a hole in the file until an entry is written.
 */
export function newHeader(): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(3, 0);
  header.writeUInt32LE(TILES, 4);
  header.writeUInt32LE(5, 12);
  header.writeBigUInt64LE(BigInt(DATA_START), 24);
  header.writeBigUInt64LE(40n, 32);
  header.writeUInt32LE(20 + TILES * ENTRY_BYTES, 40);
  // With other values here, GDAL reads a bundle as empty.
  for (const [i, value] of [3, 16, TILES, 5, TILES * ENTRY_BYTES].entries()) header.writeUInt32LE(value, 44 + 4 * i);
  return header;
}

/** The variable numbers of a header. */
export interface Counts {
  readonly largestTile: number;
  /** The bytes of records without an entry. */
  readonly unused: number;
  readonly fileBytes: number;
}
export const COUNTS_AT = 8;

export function decodeCounts(header: Buffer): Counts {
  return {
    largestTile: header.readUInt32LE(8),
    unused: Number(header.readBigUInt64LE(16)),
    fileBytes: Number(header.readBigUInt64LE(24)),
  };
}

/** Returns the bytes to write at `COUNTS_AT`. */
export function encodeCounts({ largestTile, unused, fileBytes }: Counts): Buffer {
  const bytes = Buffer.alloc(24);
  bytes.writeUInt32LE(largestTile, 0);
  bytes.writeUInt32LE(5, 4);
  bytes.writeBigUInt64LE(BigInt(Math.max(0, unused)), 8);
  bytes.writeBigUInt64LE(BigInt(fileBytes), 16);
  return bytes;
}

export const readCounts = (disk: Disk, file: number): Counts => decodeCounts(readBytes(disk, file, 0, HEADER_BYTES));

/** Returns the position of an entry in the file. */
export const entryAt = (index: number): number => HEADER_BYTES + index * ENTRY_BYTES;

export function encodeEntry(entry: Entry | undefined): Buffer {
  const bytes = Buffer.alloc(ENTRY_BYTES);
  if (entry === undefined) return bytes;
  bytes.writeUIntLE(entry.offset, 0, 5);
  bytes.writeUIntLE(entry.size, 5, 3);
  return bytes;
}

function decodeEntry(bytes: Buffer, at: number): Entry | undefined {
  if (bytes.length < at + ENTRY_BYTES) return undefined;
  const size = bytes.readUIntLE(at + 5, 3);
  return size === 0 ? undefined : { offset: bytes.readUIntLE(at, 5), size };
}

const oneEntry = Buffer.alloc(ENTRY_BYTES);

/** Reads one entry of the index. Undefined if the entry describes no tile. */
export function readEntry(disk: Disk, file: number, index: number): Entry | undefined {
  const read = disk.readSync(file, oneEntry, 0, ENTRY_BYTES, entryAt(index));
  return read < ENTRY_BYTES ? undefined : decodeEntry(oneEntry, 0);
}

/** The entries of a bundle by index. */
export interface Index {
  entry(index: number): Entry | undefined;
  /** Whether the bundle has no tile. */
  readonly isEmpty: boolean;
}

export function readIndex(disk: Disk, file: number): Index {
  const bytes = readBytes(disk, file, HEADER_BYTES, TILES * ENTRY_BYTES);
  const entry = (index: number): Entry | undefined => decodeEntry(bytes, index * ENTRY_BYTES);
  return {
    entry,
    get isEmpty() {
      for (let i = 0; i < TILES; i++) if (entry(i) !== undefined) return false;
      return true;
    },
  };
}

/** A record without its tile. */
export interface Head {
  readonly modifiedMs: number;
  readonly confirmedMs: number;
  /** The checksum. Undefined if another program wrote the record; the record then has the time of the bundle. */
  readonly checksum: number | undefined;
}

export interface FoundRecord extends Head {
  readonly tile: Buffer;
}

/**
 * Reads the record of an entry, either the whole record or only its head. Undefined if the record does not belong to
 * the entry, because another program has replaced it or a power loss has cut it off.
 */
export function readRecord(disk: Disk, file: number, entry: Entry, part: "whole" | "head"): FoundRecord | undefined {
  const { offset, size } = entry;
  const hasRoom = offset >= DATA_START + PREFIX_BYTES;
  const prefix = hasRoom ? PREFIX_BYTES : SIZE_BYTES;
  if (offset < DATA_START + SIZE_BYTES) return undefined;
  const bytes = readBytes(disk, file, offset - prefix, part === "whole" ? prefix + size : prefix);
  if (bytes.length < prefix || bytes.readUInt32LE(prefix - SIZE_BYTES) !== size) return undefined;
  if (part === "whole" && bytes.length < prefix + size) return undefined;
  const canBeOurs = hasRoom && offset % 8 === PREFIX_BYTES % 8;
  return { ...headIn(disk, file, bytes, canBeOurs), tile: bytes.subarray(prefix) };
}

function headIn(disk: Disk, file: number, bytes: Buffer, canBeOurs: boolean): Head {
  if (canBeOurs && bytes.readUInt32LE(0) === MARK)
    return {
      checksum: bytes.readUInt32LE(4),
      modifiedMs: bytes.readDoubleLE(8),
      confirmedMs: bytes.readDoubleLE(CONFIRMED_AT),
    };
  const { mtimeMs } = disk.fstatSync(file);
  return { checksum: undefined, modifiedMs: mtimeMs, confirmedMs: mtimeMs };
}

/**
 * Returns whether a tile matches the checksum of its record. A record of another program has no checksum and counts as
 * intact.
 */
export const isIntact = ({ checksum, tile }: FoundRecord): boolean =>
  checksum === undefined || crc32(tile) === checksum;

/** A record to append. */
export interface NewRecord {
  readonly bytes: Buffer;
  readonly position: number;
  readonly entry: Entry;
}

/** Returns the record of a tile, to be appended at the end of a file. */
export function newRecord(tile: Uint8Array, times: Pick<Head, "modifiedMs" | "confirmedMs">, end: number): NewRecord {
  const position = aligned(Math.max(end, DATA_START));
  const bytes = Buffer.allocUnsafe(PREFIX_BYTES + tile.byteLength);
  bytes.writeUInt32LE(MARK, 0);
  bytes.writeUInt32LE(crc32(tile), 4);
  bytes.writeDoubleLE(times.modifiedMs, 8);
  bytes.writeDoubleLE(times.confirmedMs, CONFIRMED_AT);
  bytes.writeUInt32LE(tile.byteLength, HEAD_BYTES);
  bytes.set(tile, PREFIX_BYTES);
  return { bytes, position, entry: { offset: position + PREFIX_BYTES, size: tile.byteLength } };
}

/** Returns the bytes of a new time, and the position of the write time or confirmation time that they replace. */
export function newTime(entry: Entry, of: "modified" | "confirmed", ms: number) {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(ms, 0);
  return { bytes, position: entry.offset - PREFIX_BYTES + (of === "modified" ? 8 : CONFIRMED_AT) };
}

/** Returns the bytes that become unused when the entry no longer describes its record. */
export const unusedBytes = (entry: Entry): number => recordBytes(entry.size) - ENTRY_BYTES;

/** Returns whether a bundle should be rewritten without its unused bytes. */
export const isWasteful = ({ unused, fileBytes }: Counts): boolean => unused > LEAST_WASTE && unused * 4 > fileBytes;
const LEAST_WASTE = 2 ** 20;
