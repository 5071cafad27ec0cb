import { isMap } from "../../lib/is-map.ts";
import type { Variables } from "./configuration-file.ts";
import { didYouMean, nearest } from "./nearest.ts";
import type { Path } from "./problems.ts";
import { ConfigurationSchema } from "./schema.ts";
import type { Shape } from "./shape.ts";

/** A value of a variable or a flag that overrides the file's. */
export interface Override {
  readonly path: Path;
  /** The name of the variable or flag, for messages. */
  readonly name: string;
  readonly value: unknown;
}

export interface Overrides {
  /** The overrides in the order in which they apply: flags after variables. */
  readonly overrides: readonly Override[];
  readonly problems: readonly { readonly name: string; readonly path: string; readonly message: string }[];
  readonly warnings: readonly string[];
}

interface Key {
  readonly path: readonly string[];
  readonly schema: Shape;
}

/**
 * Returns every key that has a variable and a flag: the keys at the top and the keys inside sections. A list is one
 * key.
 */
function keysOf(schema: Shape, path: readonly string[]): Key[] {
  const self = path.length === 0 ? [] : [{ path, schema }];
  if (schema.kind !== "object") return self;
  return [...self, ...Object.entries(schema.properties).flatMap(([key, inner]) => keysOf(inner, [...path, key]))];
}
const KEYS: readonly Key[] = keysOf(ConfigurationSchema, []);

const snake = (key: string): string =>
  key
    .replace(/MiB$/, "Mib")
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toUpperCase();
/** Returns the variable of a key: `server.trustProxy` gives NUTHATCH_SERVER_TRUST_PROXY. */
const variableOf = (path: readonly string[]): string => ["NUTHATCH", ...path.map(snake)].join("_");

/** Short names, which scripts rely on. */
const SHORT_VARIABLES: ReadonlyMap<string, readonly string[]> = new Map([
  ["NUTHATCH_HOST", ["server", "host"]],
  ["NUTHATCH_PORT", ["server", "port"]],
]);
const SHORT_FLAGS: ReadonlyMap<string, readonly string[]> = new Map([
  ["host", ["server", "host"]],
  ["port", ["server", "port"]],
  ["data-dir", ["dataDir"]],
]);
/** Variables that other parts of Nuthatch read. */
const OTHER_VARIABLES = [
  "NUTHATCH_CONFIG",
  "NUTHATCH_ADMIN_USER",
  "NUTHATCH_ADMIN_PASSWORD",
  "NUTHATCH_PASSWORD",
  "NUTHATCH_LOG_LEVEL",
];

/** Reads variables and flags. The name of a flag is short, or the path of a key with dots (`jobs.maxRunningTasks`). */
export function readOverrides(env: Variables, flags: Readonly<Record<string, string>>): Overrides {
  const overrides: Override[] = [];
  const problems: Overrides["problems"][number][] = [];
  const take = (name: string, { path, schema }: Key, text: string): void => {
    const read = readText(schema, text);
    if (read === undefined)
      problems.push({
        name,
        path: path.join("."),
        message: `${path.join(".")}: expected ${schema.kind === "array" ? "a list" : "a map"} as JSON text`,
      });
    else overrides.push({ path, name, value: read.value });
  };

  const byVariable = new Map(KEYS.map((key) => [variableOf(key.path), key]));
  for (const [name, key] of byVariable) takeSet(env[name], (text) => take(name, key, text));
  for (const [name, path] of SHORT_VARIABLES) {
    const key = byVariable.get(variableOf(path));
    if (key !== undefined) takeSet(env[name], (text) => take(name, key, text));
  }

  const byFlag = new Map(KEYS.map((key) => [key.path.join("."), key]));
  for (const [flag, text] of Object.entries(flags)) {
    if (flag === "config") continue;
    const short = SHORT_FLAGS.get(flag);
    const key = byFlag.get(short?.join(".") ?? flag);
    const name = short === undefined ? `--set ${flag}` : `--${flag}`;
    if (key !== undefined) take(name, key, text);
    else problems.push({ name, path: "", message: `unknown key${didYouMean(flag, [...byFlag.keys()])}` });
  }
  return { overrides, problems, warnings: misspelt(env, [...byVariable.keys()]) };
}

/** Calls `take` unless the variable is unset or empty. */
function takeSet(text: string | undefined, take: (text: string) => void): void {
  if (text !== undefined && text !== "") take(text);
}

/**
 * Returns warnings of misspelt variables. Other programs (Kubernetes) set variables with this prefix too, so only near
 * misses are reported.
 */
function misspelt(env: Variables, names: readonly string[]): string[] {
  const known = [...names, ...SHORT_VARIABLES.keys(), ...OTHER_VARIABLES];
  return Object.keys(env)
    .filter((name) => name.startsWith("NUTHATCH_") && !known.includes(name))
    .flatMap((name) => {
      const rest = name.slice("NUTHATCH_".length);
      const near = nearest(
        rest,
        known.map((k) => k.slice("NUTHATCH_".length)),
      );
      return near === undefined || Math.abs(near.length - rest.length) > 2
        ? []
        : [`the variable ${name} is not known; did you mean NUTHATCH_${near}?`];
    });
}

/** Reads the text of a variable or flag. Returns undefined if the key needs JSON and the text is not valid JSON. */
function readText(schema: Shape, text: string): { readonly value: unknown } | undefined {
  const list = schema.kind === "array";
  if (!list && schema.kind !== "object") return { value: text };
  const trimmed = text.trim();
  if (list && schema.items.kind !== "object" && !trimmed.startsWith("[")) {
    const items = trimmed.split(",").map((item) => item.trim());
    return { value: items.filter((item) => item !== "") };
  }
  try {
    const value: unknown = JSON.parse(trimmed);
    return { value };
  } catch {
    // The parser's message quotes the text, which may contain a password.
    return undefined;
  }
}

/** Returns the content of a file with one value replaced at a path. */
export function lay(content: unknown, path: Path, value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  const map = isMap(content) ? content : {};
  return { ...map, [key]: lay(map[key], rest, value) };
}
