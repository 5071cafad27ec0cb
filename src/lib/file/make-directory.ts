import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { codeOf } from "../error-code.ts";

/**
 * Creates a directory and its missing parents. Node's `recursive` option never ends where the file system reports the
 * parent of a new directory as missing, as `/proc` does.
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
