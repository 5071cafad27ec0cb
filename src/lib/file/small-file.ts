import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { ok, type Result, refuse } from "../result.ts";
import { fileFault } from "./file-fault.ts";

/**
 * Reads the text of a file that the configuration names. Refuses a file of more than `limit` bytes. Refuses anything
 * but a regular file, because reading a device or a named pipe may never end. The error is the end of a sentence that
 * begins with the path. It contains nothing of the file's content, because the file may contain secrets.
 */
export function readSmallFile(path: string, limit: number): Result<string, string> {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const facts = fstatSync(file);
      // Reading a directory fails with Node's message.
      if (!facts.isFile() && !facts.isDirectory()) return refuse("cannot be read: it is no regular file");
      return facts.size > limit ? refuse(`is larger than ${limit} bytes`) : ok(readFileSync(file, "utf8"));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return refuse(`cannot be read: ${fileFault(error)}`);
  }
}
