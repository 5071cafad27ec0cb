const HTML: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
  ["'", "&#39;"],
]);

/**
 * Escapes text for HTML, for content and quoted attributes. The result may contain non-ASCII characters, because HTML
 * is always sent as UTF-8.
 */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (c) => HTML.get(c) ?? c);

/**
 * Escapes text for XML 1.0, for content and quoted attributes. The result is ASCII, because XML answers are sent
 * without a charset (`docs/reference/wire-format.md`, Bodies). White space other than the blank becomes a reference,
 * because a parser would normalize it in attributes. Characters that XML does not allow (most control characters, half
 * of a surrogate pair) become U+FFFD.
 */
export const escapeXml = (text: string): string =>
  /[^ !#$%(-;=?-~]/.test(text) ? withEscapes(text, PLAIN_IN_XML, xmlEscape) : text;

function xmlEscape(code: number): string {
  const named = code < 128 ? HTML.get(String.fromCharCode(code)) : undefined;
  if (named !== undefined) return named;
  const isAllowed =
    code === 9 || code === 10 || code === 13 || (code >= 0x20 && code < 0xd800) || (code > 0xdfff && code < 0xfffe);
  return `&#${isAllowed || code > 0xffff ? code : 0xfffd};`;
}

/**
 * Returns a JSON string in ASCII, including the quotes. JSON answers are sent without a charset
 * (`docs/reference/wire-format.md`, Bodies).
 */
export function asciiJson(text: string): string {
  const json = JSON.stringify(text);
  return /[\u007f-\uffff]/.test(json) ? withEscapes(json, PLAIN_IN_JSON, jsonEscape) : json;
}

const jsonEscape = (code: number): string =>
  code > 0xffff
    ? jsonEscape(((code - 0x10000) >> 10) + 0xd800) + jsonEscape((code & 0x3ff) + 0xdc00)
    : `\\u${code.toString(16).padStart(4, "0")}`;

type Plain = readonly boolean[];
const ASCII = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));
const PLAIN_IN_XML: Plain = ASCII.map((c) => /[ !#$%(-;=?-~]/.test(c));
const PLAIN_IN_JSON: Plain = ASCII.map((c) => c !== "\u007f");

/**
 * A buffer for a part of the result. Writing a character into it takes nanoseconds; a call per character would take a
 * hundred.
 */
const PIECE = Buffer.alloc(8_192);
const LONGEST_ESCAPE = 16;

/** Replaces each character that is not plain by its escape. Escapes are ASCII. */
function withEscapes(text: string, plain: Plain, escapeOf: (code: number) => string): string {
  const known = new Map<number, string>();
  let result = "";
  let at = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.codePointAt(i) ?? 0;
    if (code < 128 && plain[code] === true) PIECE[at++] = code;
    else {
      let escaped = known.get(code);
      if (escaped === undefined) {
        escaped = escapeOf(code);
        known.set(code, escaped);
      }
      for (let c = 0; c < escaped.length; c++) PIECE[at++] = escaped.charCodeAt(c);
      if (code > 0xffff) i++;
    }
    if (at > PIECE.length - LONGEST_ESCAPE) {
      result += PIECE.toString("latin1", 0, at);
      at = 0;
    }
  }
  return result + PIECE.toString("latin1", 0, at);
}
