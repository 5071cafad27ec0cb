import { ok, type Result, refuse } from "../../lib/result.ts";
import { decodeText, placeOf } from "../body/body-text.ts";
import type { Field } from "../body/field.ts";
import { readXml } from "../body/xml-reader.ts";

const MOST_ELEMENTS = 1_000_000;

/** The root of a document, in the shape of JSON. */
export interface XmlContent {
  readonly root: string;
  readonly content: unknown;
}

/**
 * Reads a document of any program: elements with their texts, an attribute `x` as `@x`, the text beside attributes as
 * `#`, and elements of one name as a list.
 */
export function xmlContent(bytes: Uint8Array): Result<XmlContent, string> {
  const text = decodeText(bytes);
  if (!text.ok) return refuse(`${text.error.reason}${placeOf(text.error)}`);
  const read = readXml(text.value, "read", MOST_ELEMENTS);
  return read.ok
    ? ok({ root: read.value.name, content: contentOf(read.value) })
    : refuse(`${read.error.reason}${placeOf(read.error)}`);
}

function contentOf({ children, text }: Field): unknown {
  if (children.length === 0) return text.trim();
  const members = new Map<string, unknown[]>();
  for (const child of children) {
    const own = members.get(child.name);
    if (own === undefined) members.set(child.name, [contentOf(child)]);
    else own.push(contentOf(child));
  }
  const entries = [...members].map(([name, values]): [string, unknown] => [
    name,
    values.length === 1 ? values[0] : values,
  ]);
  return Object.fromEntries(text.trim() === "" ? entries : [...entries, ["#", text.trim()]]);
}
