import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { ok, type Result, refuse } from "../../lib/result.ts";

/** The limit in bytes of a document that a configuration names. */
const LIMIT = 4 * 1024 * 1024;

/** Reads the JSON files that a configuration names, each once. Relative paths refer to `cwd`. */
export async function readJsonFiles(
  files: readonly string[],
  cwd: string,
): Promise<(file: string) => Result<unknown, string>> {
  const found = new Map<string, Result<unknown, string>>();
  for (const file of new Set(files)) found.set(file, await readJson(resolve(cwd, file)));
  return (file) => found.get(file) ?? refuse("was not read");
}

async function readJson(path: string): Promise<Result<unknown, string>> {
  try {
    const text = await readFile(path, "utf8");
    if (text.length > LIMIT) return refuse(`is larger than ${LIMIT} bytes`);
    const content: unknown = JSON.parse(text);
    return ok(content);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return refuse(error instanceof SyntaxError ? `is no JSON: ${why}` : `cannot be read: ${why}`);
  }
}
