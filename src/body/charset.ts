import { type Refusal, shown } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import { declaredEncoding } from "../lib/text/xml-encoding.ts";
import { encodingOf } from "./body-text.ts";

/** The supported charsets of Content-Type, by their names in lower case. ASCII is a subset of UTF-8. */
const CHARSETS: ReadonlyMap<string, "utf-8" | "utf-16" | "utf-16le" | "utf-16be" | "latin1"> = new Map([
  ["utf-8", "utf-8"],
  ["utf8", "utf-8"],
  ["us-ascii", "utf-8"],
  ["ascii", "utf-8"],
  ["utf-16", "utf-16"],
  ["utf-16le", "utf-16le"],
  ["utf-16be", "utf-16be"],
  ["iso-8859-1", "latin1"],
  ["iso8859-1", "latin1"],
  ["iso_8859-1", "latin1"],
  ["latin1", "latin1"],
  ["latin-1", "latin1"],
]);

/** The types whose bodies are texts. For any other type a charset says nothing about the bytes. */
const TEXTS = /^(?:text\/.*|application\/(?:xml|json|yaml|x-yaml|x-www-form-urlencoded)|[^/]*\/.*\+(?:xml|json|yaml))$/;

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/** Returns the charset parameter of the Content-Type of a text. Undefined if the type has no charset. */
function charsetOf(contentType: string): string | undefined {
  const [type = "", ...parameters] = contentType.split(";");
  if (!TEXTS.test(type.trim().toLowerCase())) return undefined;
  for (const parameter of parameters) {
    const cut = parameter.indexOf("=");
    if (parameter.slice(0, cut).trim().toLowerCase() !== "charset") continue;
    return parameter
      .slice(cut + 1)
      .trim()
      .replace(/^"(.*)"$/s, "$1");
  }
  return undefined;
}

/**
 * Converts a text so that `decodeText` reads it in the charset of its Content-Type. A byte order mark overrides the
 * charset, and the charset overrides the XML declaration (RFC 7303, 3.2). Refuses an unknown charset, and bytes that
 * the charset does not allow.
 */
export function inCharset(body: Uint8Array, contentType: string | undefined): Result<Uint8Array, Refusal> {
  const name = contentType === undefined ? undefined : charsetOf(contentType);
  if (name === undefined || name === "") return ok(body);
  const charset = CHARSETS.get(name.toLowerCase());
  if (charset === undefined) {
    const known = "UTF-8, UTF-16, US-ASCII or ISO-8859-1";
    return refuse({
      code: "unsupported_type",
      message: `Content-Type: expected the charset ${known}, got ${shown(name)}`,
    });
  }
  const [a, b] = body;
  const hasMark = (a === 0xef && b === 0xbb) || (a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff);
  const found = encodingOf(body);
  // The first two bytes reveal UTF-16, also under a wrong label: no text begins with a NUL.
  if (hasMark || found === "utf-16le" || found === "utf-16be") return ok(body);
  if (charset === "utf-8") {
    const isUtf8 = declaredEncoding(body) === undefined || found === "utf-8";
    return ok(isUtf8 ? body : marked(Buffer.from(body)));
  }
  if (charset === "latin1") {
    const isAscii = body.every((byte) => byte < 0x80) && found === "utf-8";
    return ok(isAscii ? body : marked(Buffer.from(Buffer.from(body).toString("latin1"), "utf8")));
  }
  if (body.length === 0) return ok(body);
  try {
    const text = new TextDecoder(charset === "utf-16" ? "utf-16be" : charset, { fatal: true }).decode(body);
    return ok(marked(Buffer.from(text, "utf8")));
  } catch {
    return refuse({ code: "malformed", message: `The body has bytes that are not ${name.slice(0, 20)}.` });
  }
}

/** Returns UTF-8 with a byte order mark, which overrides an XML declaration. */
const marked = (text: Uint8Array): Uint8Array => Buffer.concat([BOM, text]);
