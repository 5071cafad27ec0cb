import { CLIENT_VARIABLES, TOKEN_VARIABLE } from "../../../lib/process/client-variables.ts";
import { parseLogOptions } from "../../../lib/process/log-options.ts";
import { didYouMean, nearest } from "../../../lib/text/nearest.ts";
import { KEYS, type Key } from "../../fields/keys.ts";
import type { ConfigurationProblem } from "../../problem.ts";
import type { Path } from "./problems.ts";
import type { Variables } from "./variables.ts";

/** A value of a variable or a flag that overrides the file's value. */
export interface Override {
  readonly path: Path;
  /** The name of the variable or flag, for messages. */
  readonly name: string;
  readonly value: unknown;
}

export interface Overrides {
  /** The overrides in the order in which they apply: flags after variables. */
  readonly overrides: readonly Override[];
  readonly problems: readonly ConfigurationProblem[];
  readonly warnings: readonly string[];
}

/** All keys that variables and flags can set. The variable and the flag of `config` name the file instead. */
const SETTABLE = KEYS.filter(({ path }) => path.join(".") !== "config");
const BY_PATH: ReadonlyMap<string, Key> = new Map(SETTABLE.map((key) => [key.path.join("."), key]));
/**
 * Short names, which scripts rely on: NUTHATCH_PORT and `--port` beside NUTHATCH_SERVER_PORT and `--set server.port`.
 */
const SHORT_NAMES: ReadonlyMap<string, Key | undefined> = new Map([
  ["host", BY_PATH.get("server.host")],
  ["port", BY_PATH.get("server.port")],
  ["data-dir", BY_PATH.get("dataDir")],
]);
const VARIABLES: ReadonlyMap<string, Key | undefined> = new Map([
  ...SETTABLE.map((key) => [key.variable, key] as const),
  ...[...SHORT_NAMES].map(([name, key]) => [`NUTHATCH_${name.replace("-", "_").toUpperCase()}`, key] as const),
]);
/** Variables that other parts of Nuthatch read. */
const OTHER_VARIABLES = [
  "NUTHATCH_CONFIG",
  "NUTHATCH_GEOWEBCACHE",
  "NUTHATCH_ADMIN_USER",
  "NUTHATCH_ADMIN_PASSWORD",
  ...Object.values(CLIENT_VARIABLES),
  TOKEN_VARIABLE,
  "NUTHATCH_CODE_CACHE",
  "NUTHATCH_LOG_LEVEL",
  "NUTHATCH_LOG_FORMAT",
];

/** Reads variables and flags. The name of a flag is short, or the path of a key with dots (`jobs.maxRunningTasks`). */
export function readOverrides(env: Variables, flags: Readonly<Record<string, string>>): Overrides {
  const overrides: Override[] = [];
  const problems: ConfigurationProblem[] = [];
  const read = (name: string, { path, form }: Key, text: string): void => {
    const value = readText(form, text);
    const where = path.join(".");
    if (value !== undefined) overrides.push({ path, name, value });
    else {
      const message = `${where}: expected ${form === "map" ? "a map" : "a list"} as JSON text`;
      problems.push({ file: name, path: where, message });
    }
  };
  for (const [name, key] of VARIABLES) {
    const text = env[name];
    if (key !== undefined && text !== undefined && text !== "") read(name, key, text);
  }
  const log = parseLogOptions(env);
  if (!log.ok) problems.push({ file: log.error.variable, path: "", message: log.error.message });
  for (const [flag, text] of Object.entries(flags)) {
    if (flag === "config" || flag === "geowebcache") continue;
    const key = SHORT_NAMES.get(flag) ?? BY_PATH.get(flag);
    const name = SHORT_NAMES.has(flag) ? `--${flag}` : `--set ${flag}`;
    if (key !== undefined) read(name, key, text);
    else problems.push({ file: name, path: "", message: `unknown key${didYouMean(flag, [...BY_PATH.keys()])}` });
  }
  return { overrides, problems, warnings: misspelt(env) };
}

/**
 * Returns warnings of misspelt variables. Reports only near misses, because other programs (Kubernetes) set variables
 * with this prefix too.
 */
function misspelt(env: Variables): string[] {
  const known = [...VARIABLES.keys(), ...OTHER_VARIABLES];
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

/** Reads the text of a variable or flag. Undefined if the key needs JSON and the text is not valid JSON. */
function readText(form: Key["form"], text: string): unknown {
  if (form === "value") return text;
  const trimmed = text.trim();
  if (form === "list of values" && !trimmed.startsWith("["))
    return trimmed
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== "");
  try {
    return JSON.parse(trimmed);
  } catch {
    // The parser's message quotes the text, which may contain a password.
    return undefined;
  }
}
