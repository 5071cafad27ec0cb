import { type Content, isMap } from "../../../lib/is-map.ts";
import type { ConfigurationProblem, Origin } from "../../problem.ts";
import type { ConfigurationFile } from "./configuration-file.ts";
import { valueAt, withValue } from "./document-path.ts";
import { isDefaulted, withDefaults } from "./layer-defaults.ts";
import type { Override } from "./overrides.ts";
import type { Path } from "./problems.ts";

/** The list sections of an included file. Their items follow the items of the configuration file. */
export const INCLUDED_LISTS = ["users", "gridSets", "layers", "stores", "webhooks"] as const;

/** A configuration file with its included files, and with the variables and flags that override it. */
export interface AssembledFiles {
  readonly content: unknown;
  readonly problems: readonly ConfigurationProblem[];
  /** The contents of the included files. The path `include[n].KEY` leads into the file with index `n`. */
  readonly included: readonly unknown[];
  /** Returns the file and position of a value. Undefined if the value is not in a file. */
  positionOf(path: Path, part: "key" | "value"): Origin | undefined;
  /** Returns the path of a value in the file that has it. */
  pathIn(path: Path): Path;
  /** Returns the text of a value before its variables were replaced. */
  writtenAs(path: Path): string | undefined;
}

/** The file that has a value, and the path of the value in that file. */
interface ValueInFile {
  readonly file: ConfigurationFile | undefined;
  readonly path: Path;
}

type Items = ReadonlyMap<string | number, readonly { readonly file: ConfigurationFile; readonly index: number }[]>;

/** Assembles the parts of a configuration. `main` is undefined without a configuration file. */
export function assembleFiles(
  main: ConfigurationFile | undefined,
  included: readonly ConfigurationFile[],
  overrides: readonly Override[],
): AssembledFiles {
  const files = main === undefined ? included : [main, ...included];
  const items: Items = new Map(INCLUDED_LISTS.map((key) => [key, itemsOf(files, key)]));
  let content: unknown = main === undefined ? {} : main.content;
  // A content that is not a map is reported later. Overrides would turn it into a map and hide the problem.
  if (isMap(content)) {
    content = included.length === 0 ? content : withLists(content, items);
    for (const { path, value } of overrides) content = withValue(content, path, value);
    content = withLayerDefaults(content, hasOwnLayers(overrides) ? [] : (items.get("layers") ?? []), main);
  }
  const defaults = valueAt(content, ["layerDefaults"]);
  const locate = (path: Path): ValueInFile => {
    const [key = "", n, ...rest] = path;
    if (typeof n !== "number") return { file: main, path };
    if (key === "include" && rest.length > 0) return { file: included[n], path: rest };
    const item = items.get(key)?.[n];
    if (item === undefined) return { file: main, path };
    const { file, index } = item;
    if (key !== "layers") return { file, path: [key, index, ...rest] };
    const layer = valueAt(file.content, [key, index]);
    const own = file === main ? undefined : valueAt(file.content, ["layerDefaults"]);
    if (isDefaulted(layer, own, rest)) return { file, path: ["layerDefaults", ...rest] };
    return isDefaulted(withDefaults(layer, own), defaults, rest)
      ? { file: main, path: ["layerDefaults", ...rest] }
      : { file, path: [key, index, ...rest] };
  };
  return {
    content,
    problems: files.flatMap(({ problems }) => problems),
    included: included.map((file) => file.content),
    positionOf(path, part) {
      const at = locate(path);
      return at.file?.positionOf(at.path, part);
    },
    pathIn: (path) => locate(path).path,
    writtenAs(path) {
      const at = locate(path);
      return at.file?.writtenAs(at.path);
    },
  };
}

function itemsOf(files: readonly ConfigurationFile[], key: string): { file: ConfigurationFile; index: number }[] {
  return files.flatMap((file) => {
    const list = valueAt(file.content, [key]);
    return Array.isArray(list) ? list.map((_: unknown, index) => ({ file, index })) : [];
  });
}

/**
 * Returns the content with the list items of all files. A section of the configuration file that is not a list stays
 * unchanged.
 */
function withLists(content: Content, items: Items): Content {
  const lists = INCLUDED_LISTS.flatMap((key): [string, unknown][] => {
    const own = content[key] ?? [];
    const all = items.get(key) ?? [];
    if (!Array.isArray(own) || all.length === own.length) return [];
    return [[key, all.map(({ file, index }) => valueAt(file.content, [key, index]))]];
  });
  return { ...content, ...Object.fromEntries(lists) };
}

const hasOwnLayers = (overrides: readonly Override[]): boolean =>
  overrides.some(({ path }) => path.length === 1 && path[0] === "layers");

function withLayerDefaults(
  content: unknown,
  items: readonly { readonly file: ConfigurationFile }[],
  main: ConfigurationFile | undefined,
): unknown {
  const layers = valueAt(content, ["layers"]);
  if (!Array.isArray(layers)) return content;
  const defaults = valueAt(content, ["layerDefaults"]);
  const filled = layers.map((layer: unknown, i) => {
    const file = items[i]?.file;
    const own = file === undefined || file === main ? undefined : valueAt(file.content, ["layerDefaults"]);
    return withDefaults(withDefaults(layer, own), defaults);
  });
  return withValue(content, ["layers"], filled);
}
