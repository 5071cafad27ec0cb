import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { codeOf } from "../error-code.ts";

/**
 * Makes a directory and those above it. Node's own `recursive` never ends where the file system says of a new directory
 * that its parent is missing, as `/proc` does.
 * @throws the error of the file system
 */
export async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (codeOf(error) === "EEXIST") return;
    if (codeOf(error) !== "ENOENT" || dirname(path) === path) throw error;
    await makeDirectory(dirname(path));
    await mkdir(path);
  }
}
