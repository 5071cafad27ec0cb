import { closeSync, fsyncSync, openSync } from "node:fs";

/** Writes a file to the disk, so that its new name never stands for a file without content. */
export function syncFile(path: string): void {
  const file = openSync(path, "r+");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
