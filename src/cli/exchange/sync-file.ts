import { closeSync, fsyncSync, openSync } from "node:fs";

/** Flushes a file to the disk, so that a later rename never results in a file without content. */
export function syncFile(path: string): void {
  const file = openSync(path, "r+");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
