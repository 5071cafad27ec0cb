import { isUtf8 } from "node:buffer";
import { readdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileFault } from "../../../lib/file/file-fault.ts";
import { readWholeFile } from "../../../lib/file/read-whole-file.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import type { ConfigurationProblem } from "../../problem.ts";
import { type ConfigurationFile, readConfigurationFile } from "./configuration-file.ts";
import type { Path } from "./problems.ts";
import type { Replacing, Variables } from "./variables.ts";

const unreadable = (file: string, message: string, at: { readonly line?: number } = {}): ConfigurationFile => ({
  content: undefined,
  problems: [{ file, ...at, path: "", message }],
  positionOf: () => ({ file }),
  writtenAs: () => undefined,
  withVariables: [],
});

/** Reads the configuration file with the path `name`. */
export async function readNamed(name: string, cwd: string, env: Variables): Promise<ConfigurationFile> {
  const path = resolve(cwd, name);
  try {
    return readBytes(name, await readWholeFile(path), { env, directory: dirname(path) });
  } catch (error) {
    return unreadable(
      name,
      `the configuration cannot be read: ${fileFault(error)}; --config or NUTHATCH_CONFIG names another file`,
    );
  }
}

/** Reads the bytes of a configuration file. Without `replacing` its variables are not replaced. */
export function readBytes(name: string, bytes: Buffer, replacing: Replacing | undefined): ConfigurationFile {
  const line = lineBeyondUtf8(bytes);
  if (line !== undefined)
    return unreadable(name, "the file is not UTF-8 from this line on: save it in the encoding UTF-8", { line });
  const text = bytes.toString();
  return /<(?:\w+:)?gwcConfiguration\b/.test(text.slice(0, 10_000))
    ? unreadable(
        name,
        "this is GeoWebCache's configuration, and Nuthatch reads YAML: `nuthatch serve --geowebcache DIRECTORY` serves it as it is, and `nuthatch import geowebcache DIRECTORY` writes it as YAML",
        { line: 1 },
      )
    : readConfigurationFile(name, text, replacing);
}

/** Returns the first line of a text that is not UTF-8, counted from 1. Undefined if the text is UTF-8. */
function lineBeyondUtf8(text: Buffer): number | undefined {
  if (isUtf8(text)) return undefined;
  for (let line = 1, from = 0; ; line++) {
    const end = text.indexOf("\n", from);
    if (end < 0 || !isUtf8(text.subarray(from, end))) return line;
    from = end + 1;
  }
}

/** The key `include` of a configuration file, and the directory that its paths start from. */
export interface Including {
  /** The configuration file's path as the operator named it. Undefined without a file. */
  readonly name: string | undefined;
  readonly cwd: string;
  readonly env: Variables;
  /** Adds a problem of `include`. */
  add(path: Path, sentence: string): void;
}

/** Reads the files that a configuration includes. */
export async function readIncluded(
  include: unknown,
  { name, cwd, env, add }: Including,
): Promise<readonly ConfigurationFile[]> {
  // An `include` that is not a list of texts is reported with the other content.
  if (!Array.isArray(include)) return [];
  const main = name === undefined ? undefined : resolve(cwd, name);
  // Problems name an included file relative to the same directory as the configuration file.
  const folder = name === undefined ? "" : dirname(name);
  const directory = resolve(cwd, folder);
  const files = new Map<string, ConfigurationFile>();
  for (const [i, pattern] of include.entries()) {
    if (typeof pattern !== "string" || pattern === "") continue;
    const found = await includedNames(pattern, directory);
    if (!found.ok) {
      add(["include", i], `${pattern}: ${found.error}`);
      continue;
    }
    const isPattern = pattern.includes("*");
    for (const included of found.value) {
      const path = resolve(directory, included);
      const isKnown = path === main || files.has(path);
      if (!isKnown)
        files.set(path, await readOne(path, shownName(folder, included), env, (what) => add(["include", i], what)));
      else if (!isPattern)
        add(["include", i], `${included}: ${path === main ? "this is the file itself" : "the file is included twice"}`);
    }
  }
  return [...files.values()];
}

const shownName = (folder: string, included: string): string =>
  folder === "" || folder === "." || included.startsWith("/") ? included : `${folder}/${included}`;

async function readOne(
  path: string,
  name: string,
  env: Variables,
  add: (sentence: string) => void,
): Promise<ConfigurationFile> {
  try {
    return readBytes(name, await readWholeFile(path), { env, directory: dirname(path) });
  } catch (error) {
    add(`${name} cannot be read: ${fileFault(error)}`);
    return { ...unreadable(name, ""), problems: [] satisfies ConfigurationProblem[] };
  }
}

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
