import { type Refusal, shown } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import { decodeText, firstCharacter, placeOf } from "./body-text.ts";
import { type Field, scalarOf } from "./field.ts";
import { readJson } from "./lenient-json.ts";
import { readXml } from "./xml-reader.ts";

export type DocumentFormat = "xml" | "json";

const LABEL: Readonly<Record<DocumentFormat, string>> = { xml: "XML", json: "JSON" };

/** Returns the format that the first character of a body indicates. Undefined for neither XML nor JSON. */
export function sniffFormat(body: Uint8Array): DocumentFormat | undefined {
  const first = firstCharacter(body);
  return first === "<" ? "xml" : first === "{" ? "json" : undefined;
}

const malformed = (message: string): Refusal => ({ code: "malformed", message });

/**
 * Reads a document and returns its root: the root element of XML, or the only key of a JSON object.
 * @param what the document's name in messages (`a seedRequest document`)
 * @param roots the allowed names of the root
 * @param attributes as for `readXml`
 */
export function readDocument(
  body: Uint8Array,
  format: DocumentFormat,
  what: string,
  roots: readonly string[],
  attributes: "ignore" | "read" = "ignore",
): Result<Field, Refusal> {
  const expected = `Expected ${what} as ${LABEL[format]}`;
  const first = firstCharacter(body);
  if (first === "") return refuse(malformed(`${expected}, got an empty body`));
  const sniffed = sniffFormat(body);
  if (sniffed !== undefined && sniffed !== format) return refuse(malformed(`${expected}, got ${LABEL[sniffed]}`));
  const text = decodeText(body);
  if (!text.ok) return refuse(malformed(`${expected}, got ${text.error.reason}${placeOf(text.error)}`));
  const read = format === "xml" ? readXml(text.value, attributes) : readJson(text.value);
  if (!read.ok) {
    const reason = sniffed === undefined ? `something else: ${read.error.reason}` : read.error.reason;
    return refuse(malformed(`${expected}, got ${reason}${placeOf(read.error)}`));
  }
  if (format === "xml") return named(read.value, expected, roots);
  const top = read.value;
  const only = top.children[0];
  if (top.kind !== "element" || only === undefined || top.children.length > 1) {
    const got =
      top.kind === "list"
        ? "an array"
        : scalarOf(top) !== undefined && top.text !== ""
          ? `the text ${shown(top.text)}`
          : `an object with ${top.children.length} keys`;
    return refuse(malformed(`${expected}, an object with the one key ${anyOf(roots)}, got ${got}${placeOf(top)}`));
  }
  const root = named(only, expected, roots);
  if (!root.ok) return root;
  return only.kind === "list" || (only.children.length === 0 && only.text !== "")
    ? refuse(
        malformed(
          `${expected}, got ${only.kind === "list" ? "an array" : shown(only.text)} as ${only.name}${placeOf(only)}`,
        ),
      )
    : root;
}

const anyOf = (names: readonly string[]): string => names.join(" or ");

function named(root: Field, expected: string, roots: readonly string[]): Result<Field, Refusal> {
  if (roots.includes(root.name)) return ok(root);
  // Do not name the roots again if the document's name already contains them.
  const known = roots.every((one) => expected.includes(one)) ? "" : `, whose root is ${anyOf(roots)}`;
  return refuse(malformed(`${expected}${known}, got the root ${shown(root.name)}${placeOf(root)}`));
}
