import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** A file of a tile, and the bytes that it takes on the disk, as `du` reports them. */
interface TileFile {
  readonly file: string;
  readonly bytes: number;
  readonly bytesOnDisk: number;
}

/** Counts the tiles of a store or of one layer by reading its directories. The reported usage must equal the counts. */
export function scanStore(
  dataDir: string,
  layer = "",
): { tiles: number; bytes: number; bytesOnDisk: number; files: string[]; sizes: TileFile[] } {
  const files: string[] = [];
  const sizes: TileFile[] = [];
  let bytes = 0;
  let bytesOnDisk = 0;
  const walk = (directory: string, depth: number): void => {
    for (const entry of entriesOf(directory)) {
      if (depth === 0 && entry.name.startsWith("_gwc")) continue;
      const path = join(directory, entry.name);
      if (entry.isDirectory()) walk(path, depth + 1);
      else if (/^\d+_\d+\.\w/.test(entry.name)) {
        const { size, blocks } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0, blocks: 0 };
        if (size === 0) continue;
        const taken = blocks * 512;
        files.push(path);
        sizes.push({ file: path, bytes: size, bytesOnDisk: taken });
        bytes += size;
        bytesOnDisk += taken;
      }
    }
  };
  walk(join(dataDir, "tiles", layer), 0);
  return { tiles: files.length, bytes, bytesOnDisk, files, sizes };
}

/** Returns the entries of a directory, or none if the directory was removed during the scan. */
function entriesOf(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

/** Returns whether a file is a complete PNG: it has the signature and the last chunk. */
export function isWholePng(file: string): boolean {
  const bytes = readFileSync(file);
  return (
    bytes.subarray(0, 8).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) &&
    bytes.subarray(-8, -4).toString("latin1") === "IEND"
  );
}
