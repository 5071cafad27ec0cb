import type { ConfigurationProblem, Origin } from "../../problem.ts";
import { MAX_YAML_DEPTH, parseYaml } from "./parsed-yaml.ts";
import { type Path, pathText } from "./problems.ts";
import { type Replacing, substitute } from "./variables.ts";

/** The content of a configuration file and the positions of its values. */
export interface ConfigurationFile {
  /** Plain data, with variables replaced. */
  readonly content: unknown;
  readonly problems: readonly ConfigurationProblem[];
  positionOf(path: Path, part: "key" | "value"): Origin;
  /** Returns the text of a value before its variables were replaced. */
  writtenAs(path: Path): string | undefined;
  /** The paths of the values that contain variables. */
  readonly withVariables: readonly Path[];
}

/** A limit far beyond any real file, because each value takes time and memory. */
const MAX_VALUES = 1_000_000;

/** Thrown if the whole document is unusable. */
class Unusable extends Error {
  readonly path: Path;

  constructor(path: Path, message: string) {
    super(message);
    this.path = path;
  }
}

/**
 * Reads YAML 1.2, with `${NAME}`, `${NAME:-default}` and `${FILE:path}` in its texts (`$${` is a plain `${`). Without
 * `replacing` the variables are not replaced.
 */
export function readConfigurationFile(name: string, text: string, replacing: Replacing | undefined): ConfigurationFile {
  const document = parseYaml(text);
  const lines = new TextLines(text);
  const problems: ConfigurationProblem[] = [];
  const at = (offset: number | undefined): Origin => {
    const { line, column } = lines.positionOf(offset ?? 0);
    return { file: name, line, column };
  };
  const written = new Map<string, string>();
  const withVariables: Path[] = [];
  const positionOf = (path: Path, part: "key" | "value"): Origin =>
    at(document.ok ? document.value.offsetOf(path, part) : undefined);
  const file = (content: unknown): ConfigurationFile => ({
    content,
    problems,
    positionOf,
    writtenAs: (path) => written.get(pathText(path)),
    withVariables,
  });
  const add = (origin: Origin, path: string, message: string): void => {
    problems.push({ ...origin, path, message: path === "" ? message : `${path}: ${message}` });
  };

  if (!document.ok) {
    add(at(document.error.offset), "", `this is not valid YAML: ${document.error.message}`);
    return file(undefined);
  }
  const { content } = document.value;
  if (content === null || content === undefined) {
    add(
      at(0),
      "",
      "the configuration is empty: expected a map with layers (a file of {} has all defaults and no layers)",
    );
    return file(undefined);
  }

  // Most files have no aliases and no variables. Then the values, perhaps of 10,000 layers, need not be copied.
  if (!document.value.hasAliases && !text.includes("${")) return file(content);
  let values = 0;
  /** The collections that contain the current value. */
  const around = new Set<object>();
  function fill(value: unknown, path: Path): unknown {
    // Aliases of YAML share one collection. Here each alias becomes a copy, so the number of values is limited.
    if (++values > MAX_VALUES) throw new Unusable([], `its aliases make more than ${MAX_VALUES} values of it`);
    if (path.length > MAX_YAML_DEPTH) throw new Unusable(path, "it is nested too deeply");
    if (typeof value === "object" && value !== null) {
      if (around.has(value)) throw new Unusable(path, "an alias stands for a collection that it is in itself");
      around.add(value);
      const filled = Array.isArray(value)
        ? value.map((item, i) => fill(item, [...path, i]))
        : Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, [...path, key])]));
      around.delete(value);
      return filled;
    }
    if (typeof value !== "string" || !value.includes("${")) return value;
    written.set(pathText(path), value);
    withVariables.push(path);
    if (replacing === undefined) return value;
    const filled = substitute(value, replacing);
    for (const message of filled.problems) add(positionOf(path, "value"), pathText(path), message);
    return filled.text;
  }
  try {
    return file(fill(content, []));
  } catch (error) {
    if (!(error instanceof Unusable)) throw error;
    add(positionOf(error.path, "value"), "", `this YAML cannot be read: ${error.message}`);
    return file(undefined);
  }
}

/** The lines of a text, to convert an offset to line and column. */
export class TextLines {
  readonly #text: string;
  /** The offset of the beginning of each line. Computed at the first call of `positionOf`. */
  #starts: readonly number[] | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns line and column of an offset, both counted from 1. */
  positionOf(offset: number): { readonly line: number; readonly column: number } {
    this.#starts ??= startsOf(this.#text);
    const starts = this.#starts;
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  }
}

function startsOf(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}
