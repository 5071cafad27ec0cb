import { basename, dirname, resolve } from "node:path";
import { fileFault } from "../../../lib/file/file-fault.ts";
import { readWholeFile } from "../../../lib/file/read-whole-file.ts";
import { type Content, isMap } from "../../../lib/is-map.ts";
import { MigrationError } from "../../migration-error.ts";
import type { Origins } from "../origins.ts";
import { readPyYaml } from "./pyyaml.ts";

const SECTIONS = ["globals", "services", "layers", "caches", "sources", "grids", "parts", "base"];

/**
 * Reads a MapProxy configuration with the files that it is based on, and records the positions of their values.
 * @throws MigrationError
 */
export async function readMapProxy(file: string, origins: Origins, readers: readonly string[] = []): Promise<Content> {
  const path = resolve(file);
  if (readers.includes(path)) throw new MigrationError(`${file}: the file is its own base`, "invalid");
  const text = await readWholeFile(path).catch((error: unknown) => {
    throw new MigrationError(`${file} cannot be read: ${fileFault(error)}`, "unreadable");
  });
  const read = readPyYaml(text.toString(), basename(file), origins);
  if (!read.ok) throw new MigrationError(`${file} is no YAML: ${read.error}`, "invalid");
  const document = read.value;
  if (!isMap(document) || !SECTIONS.some((key) => key in document))
    throw new MigrationError(
      `${file} is no configuration of MapProxy: expected sections such as layers, caches, sources`,
      "invalid",
    );
  const { base, ...own } = document;
  origins.copy(own, document);
  let merged: Content = own;
  for (const one of base === undefined || base === null ? [] : Array.isArray(base) ? base : [base])
    merged = mergedOver(
      merged,
      await readMapProxy(resolve(dirname(path), String(one)), origins, [...readers, path]),
      origins,
    );
  return merged;
}

/** Adds values of `base` to a tree that lacks them. A key without a value gets the map of `base`. */
function mergedOver(own: Content, base: Content, origins: Origins): Content {
  const merged: Record<string, unknown> = { ...own };
  for (const [key, value] of Object.entries(base)) {
    const present = own[key];
    if (present === undefined || (present === null && isMap(value))) merged[key] = value;
    else if (isMap(present) && isMap(value)) merged[key] = mergedOver(present, value, origins);
  }
  origins.copy(merged, own, base);
  return merged;
}
