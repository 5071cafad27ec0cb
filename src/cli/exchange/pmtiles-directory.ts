import { gzipSync } from "node:zlib";

/** An entry of a directory (PMTiles 3, 4.1). With run length 0, offset and length point to a leaf directory. */
export interface PmtilesEntry {
  readonly id: number;
  readonly offset: number;
  readonly length: number;
  readonly runLength: number;
}

/** Encodes and compresses a directory. Its entries must ascend by id (PMTiles 3, 4.2). */
export function encodeDirectory(entries: readonly PmtilesEntry[]): Buffer {
  const numbers: number[] = [entries.length];
  let id = 0;
  for (const entry of entries) {
    numbers.push(entry.id - id);
    id = entry.id;
  }
  for (const { runLength } of entries) numbers.push(runLength);
  for (const { length } of entries) numbers.push(length);
  let end = -1;
  for (const { offset, length } of entries) {
    numbers.push(offset === end ? 0 : offset + 1);
    end = offset + length;
  }
  return gzipSync(varints(numbers));
}

/** Encodes numbers as Protocol Buffers do, up to 2^53. */
function varints(numbers: readonly number[]): Buffer {
  const bytes: number[] = [];
  for (const number of numbers) {
    let rest = number;
    while (rest >= 0x80) {
      bytes.push((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    bytes.push(rest);
  }
  return Buffer.from(bytes);
}

/** The root directory must be in the first 16 KiB of an archive, after the header (PMTiles 3, 2). */
export const HEADER_BYTES = 127;
export const ROOT_END = 16_384;

const MOST_IN_LEAF = 4_096;
/** With more leaves the compressed root directory may be too large. */
const MOST_LEAVES = 3_000;

/** The directories of an archive. */
export interface Directories {
  readonly root: Buffer;
  readonly leavesLength: number;
}

/**
 * Writes the leaf directories of an archive, and returns the root directory. Only one leaf is in memory.
 * @param count the number of all entries
 * @param entries returns the entries from a number on, ascending
 * @param write writes bytes at an offset from the beginning of the leaf directories
 */
export function writeDirectories(
  count: number,
  entries: (from: number, most: number) => readonly PmtilesEntry[],
  write: (bytes: Buffer, at: number) => void,
): Directories {
  if (count <= MOST_IN_LEAF) {
    const root = encodeDirectory(entries(0, count));
    if (root.byteLength <= ROOT_END - HEADER_BYTES) return { root, leavesLength: 0 };
  }
  for (let size = Math.max(MOST_IN_LEAF, Math.ceil(count / MOST_LEAVES)); ; size *= 2) {
    const leaves: PmtilesEntry[] = [];
    let at = 0;
    for (let from = 0; from < count; from += size) {
      const part = entries(from, size);
      const leaf = encodeDirectory(part);
      write(leaf, at);
      leaves.push({ id: part[0]?.id ?? 0, offset: at, length: leaf.byteLength, runLength: 0 });
      at += leaf.byteLength;
    }
    const root = encodeDirectory(leaves);
    if (root.byteLength <= ROOT_END - HEADER_BYTES) return { root, leavesLength: at };
  }
}
