import { decodeText, placeOf } from "../../../body/body-text.ts";
import type { Field } from "../../../body/field.ts";
import { readXml } from "../../../body/xml-reader.ts";
import { groupedBy } from "../../../lib/grouped-by.ts";
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
  const lines = new Map<string, number>();
  const entries = [...groupedBy(children, ({ name }) => name)].map(([name, same]): [string, unknown] => {
    const [first] = same;
    if (first !== undefined) lines.set(name, first.line);
    const values = same.map((child) => contentOf(child, recordLines));
    if (values.length === 1) return [name, values[0]];
    recordLines(values, new Map(same.map(({ line }, i) => [String(i), line])));
    return [name, values];
  });
  const content = Object.fromEntries(text.trim() === "" ? entries : [...entries, ["#", text.trim()]]);
  recordLines(content, lines);
  return content;
}
