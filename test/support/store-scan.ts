import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** All tiles in a data directory's store, or of one layer, by looking: what usage must equal. */
export function scanStore(
  dataDir: string,
  layer = "",
): { tiles: number; bytes: number; files: string[]; sizes: { file: string; bytes: number }[] } {
  const files: string[] = [];
  const sizes: { file: string; bytes: number }[] = [];
  let bytes = 0;
  const walk = (directory: string, depth: number): void => {
    for (const entry of entriesOf(directory)) {
      if (depth === 0 && entry.name.startsWith("_gwc")) continue;
      const path = join(directory, entry.name);
      if (entry.isDirectory()) walk(path, depth + 1);
      else if (/^\d+_\d+\.\w/.test(entry.name)) {
        const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
        if (size === 0) continue;
        files.push(path);
        sizes.push({ file: path, bytes: size });
        bytes += size;
      }
    }
  };
  walk(join(dataDir, "tiles", layer), 0);
  return { tiles: files.length, bytes, files, sizes };
}

/** What is removed while it is scanned is not there. */
function entriesOf(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

/** A whole PNG: signature and the last chunk. */
export function isWholePng(file: string): boolean {
  const bytes = readFileSync(file);
  return (
    bytes.subarray(0, 8).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) &&
    bytes.subarray(-8, -4).toString("latin1") === "IEND"
  );
}
