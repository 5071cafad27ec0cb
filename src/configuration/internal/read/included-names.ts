import { readdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileFault } from "../../../lib/file/file-fault.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";

/**
 * Returns the files that an item of `include` names, in the order of their names. The last part of a path may hold `*`,
 * which stands for any characters; files that begin with a dot, as those of editors, are then left out.
 * @param directory to which a relative path refers
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
