import type { Variables } from "./configuration-file.ts";
import { didYouMean, nearest } from "./nearest.ts";
import type { Path } from "./problems.ts";
import { KEYS, type Key } from "./schema/keys.ts";

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
  const take = (name: string, { path, form }: Key, text: string): void => {
    const read = readText(form, text);
    if (read === undefined)
      problems.push({
        name,
        path: path.join("."),
        message: `${path.join(".")}: expected ${form === "map" ? "a map" : "a list"} as JSON text`,
      });
    else overrides.push({ path, name, value: read.value });
  };

  const byVariable = new Map(KEYS.map((key) => [key.variable, key]));
  for (const [name, key] of byVariable) takeSet(env[name], (text) => take(name, key, text));
  for (const [name, path] of SHORT_VARIABLES) {
    const key = KEYS.find((one) => one.path.join(".") === path.join("."));
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
function readText(form: Key["form"], text: string): { readonly value: unknown } | undefined {
  if (form === "value") return { value: text };
  const trimmed = text.trim();
  if (form === "list of values" && !trimmed.startsWith("[")) {
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
