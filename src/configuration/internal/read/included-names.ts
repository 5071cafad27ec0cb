import { readdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileFault } from "../../../lib/file/file-fault.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";

/**
 * Returns the files that an item of `include` names, sorted by name. The last part of a path may contain `*`, which
 * matches any characters; files whose names begin with a dot, such as those of editors, are then left out.
 * @param directory the directory that a relative path starts from
 */
export async function includedNames(pattern: string, directory: string): Promise<Result<readonly string[], string>> {
  const [folder, last] = [dirname(pattern), basename(pattern)];
  if (folder.includes("*")) return refuse("expected a path with * in its last part only");
  if (!last.includes("*")) return ok([pattern]);
  const expression = new RegExp(`^${last.split(/\*+/).map(escaped).join("[^/]*")}$`);
  try {
    const entries = await readdir(resolve(directory, folder), { withFileTypes: true });
    const names = entries
      .filter((entry) => !entry.isDirectory())
      .map(({ name }) => name)
      .filter((name) => !name.startsWith(".") && expression.test(name));
    return ok(names.sort().map((name) => join(folder, name)));
  } catch (error) {
    return refuse(`the directory cannot be read: ${fileFault(error)}`);
  }
}

const escaped = (text: string): string => text.replace(/[.+?^${}()|[\]\\]/g, "\\$&");
