import { isMap } from "../../lib/is-map.ts";

/** Returns a text as the configuration file has it: `${` would be a variable there. */
export const literalText = (text: string): string => text.replaceAll("${", () => "$${");

/** Returns a value of another program's configuration with each text, at any depth, as the configuration file has it. */
export function literal(value: unknown): unknown {
  if (typeof value === "string") return literalText(value);
  if (Array.isArray(value)) return value.map(literal);
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, literal(inner)]));
}
