import { isMap } from "../../lib/is-map.ts";

/** Returns a text as the configuration file has it: `${` would be a variable there. */
export const literalText = (text: string): string => text.replaceAll("${", () => "$${");

/**
 * Returns a value of another program's configuration with each text, at any depth, as the configuration file has it.
 * @param variables names of variables: a text that is one of these in `${…}` stays as it is
 */
export function literal(value: unknown, variables: ReadonlySet<string> = NONE): unknown {
  if (typeof value === "string")
    return variables.has(/^\$\{(\w+)\}$/.exec(value)?.[1] ?? "") ? value : literalText(value);
  if (Array.isArray(value)) return value.map((item) => literal(item, variables));
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, literal(inner, variables)]));
}

const NONE: ReadonlySet<string> = new Set();
