import { decodeText, placeOf } from "../../../body/body-text.ts";
import type { Field } from "../../../body/field.ts";
import { readXml } from "../../../body/xml-reader.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";

const MOST_ELEMENTS = 1_000_000;

/** The root of an XML document, in the shape of JSON. */
export interface XmlContent {
  readonly root: string;
  readonly content: unknown;
}

/** Receives the line of each member of a map or list. */
type RecordLines = (container: object, lines: ReadonlyMap<string, number>) => void;

/**
 * Converts an XML document of any program: an attribute `x` becomes `@x`, text beside attributes becomes `#`, and
 * elements of one name become a list.
 */
export function xmlContent(bytes: Uint8Array, recordLines: RecordLines = () => {}): Result<XmlContent, string> {
  const text = decodeText(bytes);
  if (!text.ok) return refuse(`${text.error.reason}${placeOf(text.error)}`);
  const read = readXml(text.value, "read", MOST_ELEMENTS);
  return read.ok
    ? ok({ root: read.value.name, content: contentOf(read.value, recordLines) })
    : refuse(`${read.error.reason}${placeOf(read.error)}`);
}

function contentOf({ children, text }: Field, recordLines: RecordLines): unknown {
  if (children.length === 0) return text.trim();
  const members = new Map<string, { readonly value: unknown; readonly line: number }[]>();
  for (const child of children) {
    const one = { value: contentOf(child, recordLines), line: child.line };
    const own = members.get(child.name);
    if (own === undefined) members.set(child.name, [one]);
    else own.push(one);
  }
  const lines = new Map<string, number>();
  const entries = [...members].map(([name, list]): [string, unknown] => {
    const [first] = list;
    if (first !== undefined) lines.set(name, first.line);
    if (list.length === 1) return [name, first?.value];
    const values = list.map(({ value }) => value);
    recordLines(values, new Map(list.map(({ line }, i) => [String(i), line])));
    return [name, values];
  });
  const content = Object.fromEntries(text.trim() === "" ? entries : [...entries, ["#", text.trim()]]);
  recordLines(content, lines);
  return content;
}
