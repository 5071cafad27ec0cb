import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { parseDocument } from "yaml";
import { fileFault } from "../../../../lib/file-fault.ts";
import { isMap } from "../../../../lib/is-map.ts";
import { CommandFailure, EXIT } from "../../../exit.ts";

const SECTIONS = ["globals", "services", "layers", "caches", "sources", "grids", "parts", "base"];

type Tree = Readonly<Record<string, unknown>>;

/** Reads a MapProxy configuration with the files that it is based on. @throws CommandFailure */
export async function readMapProxy(file: string, readers: readonly string[] = []): Promise<Tree> {
  const path = resolve(file);
  if (readers.includes(path)) throw new CommandFailure(`${file}: the file is its own base`, EXIT.configuration);
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw new CommandFailure(`${file} cannot be read: ${fileFault(error)}`, EXIT.failure);
  });
  const document = parsed(text, file);
  if (!isMap(document) || !SECTIONS.some((key) => key in document))
    throw new CommandFailure(
      `${file} is no configuration of MapProxy: expected sections such as layers, caches, sources`,
      EXIT.configuration,
    );
  const { base, ...own } = document;
  let merged: Tree = own;
  for (const one of base === undefined ? [] : Array.isArray(base) ? base : [base])
    merged = mergedOver(merged, await readMapProxy(resolve(dirname(path), String(one)), [...readers, path]));
  return merged;
}

function parsed(text: string, file: string): unknown {
  const document = parseDocument(text, { merge: true });
  // PyYAML takes the last of two values of one key, so such files work in MapProxy.
  const fault = document.errors.find(({ code }) => code !== "DUPLICATE_KEY");
  if (fault !== undefined) throw new CommandFailure(`${file} is no YAML: ${fault.message}`, EXIT.configuration);
  return document.toJS({ maxAliasCount: 10_000 });
}

/** Returns a tree with the values of `base` that it lacks. */
function mergedOver(own: Tree, base: Tree): Tree {
  const merged: Record<string, unknown> = { ...own };
  for (const [key, value] of Object.entries(base)) {
    const present = own[key];
    if (present === undefined) merged[key] = value;
    else if (isMap(present) && isMap(value)) merged[key] = mergedOver(present, value);
  }
  return merged;
}
