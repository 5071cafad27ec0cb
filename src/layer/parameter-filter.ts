import { createHash } from "node:crypto";
import { badField, type Refusal } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";

/** Which request parameter makes different tiles. Keys are upper case; requests may use any case. */
export type ParameterFilter =
  | { readonly type: "string"; readonly key: string; readonly default: string; readonly values: readonly string[] }
  | { readonly type: "regex"; readonly key: string; readonly default: string; readonly regex: string };

/** One combination of parameter values: every filter's key, or empty when all values are the defaults. */
export interface Parameters {
  /** GWC's id: 40 hexadecimal digits, "" for the defaults. */
  readonly id: string;
  readonly values: Readonly<Record<string, string>>;
}

export const DEFAULT_PARAMETERS: Parameters = { id: "", values: {} };

/**
 * GWC's identity of a combination: SHA-1 of `?K1=V1&K2=V2`, keys sorted, nothing escaped (`facts/gwc-core.md` 2.4),
 * so that existing caches fit.
 */
export function parametersId(values: Readonly<Record<string, string>>): string {
  const keys = Object.keys(values).sort();
  if (keys.length === 0) return "";
  return createHash("sha1")
    .update(`?${keys.map((k) => `${k}=${values[k] ?? ""}`).join("&")}`, "utf8")
    .digest("hex");
}

const compiled = new Map<string, RegExp>();
function matches(regex: string, value: string): boolean {
  let re = compiled.get(regex);
  if (re === undefined) {
    re = new RegExp(`^(?:${regex})$`, "su");
    compiled.set(regex, re);
  }
  return re.test(value);
}

const legalValues = (filter: ParameterFilter): string =>
  filter.type === "string"
    ? `one of ${[...new Set([filter.default, ...filter.values])].map((v) => JSON.stringify(v)).join(", ")}`
    : `a value that matches ${filter.regex}`;

/**
 * The combination that a request means. Absent or empty values are the defaults; unknown keys are refused only when
 * `unknownKeys` says so (tile requests carry many parameters of their own protocol).
 */
export function parseParameters(
  filters: readonly ParameterFilter[],
  given: ReadonlyMap<string, string>,
  unknownKeys: "ignore" | "refuse",
): Result<Parameters, Refusal> {
  const upper = new Map([...given].map(([k, v]) => [k.toUpperCase(), v]));
  if (unknownKeys === "refuse") {
    const known = filters.map((f) => f.key);
    for (const key of upper.keys()) {
      if (!known.includes(key)) {
        return refuse(
          badField(
            "parameters",
            known.length === 0 ? "no parameters (the layer has none)" : `keys of ${known.join(", ")}`,
            key,
          ),
        );
      }
    }
  }
  const values: Record<string, string> = {};
  let allDefault = true;
  for (const filter of filters) {
    const value = upper.get(filter.key);
    if (value === undefined || value === "" || value === filter.default) {
      values[filter.key] = filter.default;
      continue;
    }
    const legal =
      filter.type === "string" ? filter.values.includes(value) : value.length <= 4096 && matches(filter.regex, value);
    if (!legal) return refuse(badField(filter.key, legalValues(filter), value));
    values[filter.key] = value;
    allDefault = false;
  }
  return ok(allDefault ? DEFAULT_PARAMETERS : { id: parametersId(values), values });
}
