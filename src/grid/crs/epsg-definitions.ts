import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { dataFile } from "../../lib/process/data-file.ts";

let definitions: string | undefined;

/** Returns the text of all definitions. Reads the file (850 KB) when the first code is looked up. */
function readDefinitions(): string {
  // The package exports nothing but its code, so the path is resolved from the path of the code.
  const inPackage = () => join(dirname(createRequire(import.meta.url).resolve("mproj")), "../nad/epsg");
  definitions ??= readFileSync(dataFile("epsg", inPackage), "utf8");
  return definitions;
}

/** The definitions that were looked up. A search in the text takes up to a millisecond. */
const found = new Map<number, string>();

/**
 * Returns the definition of an EPSG code in PROJ's syntax. Undefined if the code is unknown, or the CRS is neither
 * projected nor in degrees from Greenwich.
 */
export function epsgDefinition(code: number): string | undefined {
  const known = found.get(code);
  if (known !== undefined) return known;
  const text = readDefinitions();
  // A line has the form `<25832> +proj=utm +zone=32 … +no_defs  <>`.
  const begin = `\n<${code}> `;
  const at = text.indexOf(begin);
  if (at < 0) return undefined;
  const definition = text.slice(at + begin.length, text.indexOf("<>", at)).trim();
  const isUnusable = definition.includes("+proj=geocent") || (isDegrees(definition) && definition.includes("+pm="));
  if (isUnusable) return undefined;
  found.set(code, definition);
  return definition;
}

/** Returns the name of an EPSG code. Undefined if the definitions do not contain the code. */
export function epsgName(code: number): string | undefined {
  const text = readDefinitions();
  const at = text.indexOf(`\n<${code}> `);
  // The line before a definition is its name: `# ETRS89 / UTM zone 32N`.
  const line = at < 0 ? "" : text.slice(text.lastIndexOf("\n", at - 1) + 1, at);
  return line.startsWith("# ") ? line.slice(2).trim() : undefined;
}

/** Returns whether a definition describes a CRS of longitude and latitude. */
export const isDegrees = (definition: string): boolean => definition.includes("+proj=longlat");
