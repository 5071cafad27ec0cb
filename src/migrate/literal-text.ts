import { isMap } from "../lib/is-map.ts";

/** Escapes a text for the configuration file, where `${` would begin a variable. */
export const literalText = (text: string): string => text.replaceAll("${", () => "$${");

/**
 * Escapes each text of another program's value, at any depth, for the configuration file.
 * @param variables names of variables; a text that consists of such a name in `${…}` is not escaped
 */
export function literal(value: unknown, variables: ReadonlySet<string> = NONE): unknown {
  if (typeof value === "string")
    return variables.has(/^\$\{(\w+)\}$/.exec(value)?.[1] ?? "") ? value : literalText(value);
  if (Array.isArray(value)) return value.map((item) => literal(item, variables));
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, literal(inner, variables)]));
}

const NONE: ReadonlySet<string> = new Set();
