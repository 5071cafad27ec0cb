import { answerText } from "../../lib/text/answer-text.ts";

/**
 * The codes of OGC exceptions which mean that the request itself is wrong (WMS 1.1.1, A.3; WMS 1.3.0, table E.1; OWS
 * Common 1.1.0, table 25; WMTS 1.0.0, table 24).
 */
const PERMANENT_CODES: ReadonlySet<string> = new Set([
  "InvalidFormat",
  "InvalidSRS",
  "InvalidCRS",
  "LayerNotDefined",
  "StyleNotDefined",
  "MissingDimensionValue",
  "InvalidDimensionValue",
  "OperationNotSupported",
  "MissingParameterValue",
  "InvalidParameterValue",
  "TileOutOfRange",
]);

/** The bytes of a document that are examined. An upstream reports an exception at the beginning. */
const MOST_BYTES = 64 * 1024;
const MOST_WORDS = 300;

/** The elements of OGC exceptions that contain the message, in lower case and without a prefix. */
const SAYING: ReadonlySet<string> = new Set(["serviceexception", "exceptiontext"]);
/** Elements whose content is not text for people. */
const HIDDEN: ReadonlySet<string> = new Set(["script", "style"]);

/**
 * Returns the upstream's message from an exception document or a page: one line, no markup, 300 characters at most.
 * Takes time in proportion to the document, because an upstream may send anything, and the renderer waits.
 */
export function ownWords(body: Uint8Array, contentType = ""): string {
  const { said, codes, all } = readExceptions(body, contentType);
  return plainWords(said) || codes.join(" ") || plainWords(all);
}

/** Returns the codes of an exception document. */
export const exceptionCodes = (body: Uint8Array, contentType: string): readonly string[] =>
  readExceptions(body, contentType).codes;

/** Returns whether a body is an exception document whose code means that the request would fail again. */
export const isPermanentException = (body: Uint8Array, contentType: string): boolean =>
  exceptionCodes(body, contentType).some((code) => PERMANENT_CODES.has(code));

/**
 * Decodes a text. Valid UTF-8 is decoded as UTF-8, with any declared charset, because many servers declare one charset
 * for all answers. Any other text is decoded by its mark, the Content-Type or its XML declaration.
 */
export function decodeText(bytes: Uint8Array, contentType: string): string {
  const text = Buffer.from(bytes).toString("utf8");
  return /[\0\ufffd]/.test(text) ? answerText(bytes, contentType) : text;
}

/** The bytes of a body that are enough to recognize its kind. */
const MOST_TELLING = 2048;

/** Returns the beginning of a body as text, without leading blanks. */
export const beginningOf = (body: Uint8Array, contentType: string): string =>
  decodeText(body.subarray(0, MOST_TELLING), contentType).trimStart();

/** Returns the messages of the exceptions in a document, their codes, and all texts of the document. */
function readExceptions(body: Uint8Array, contentType: string) {
  const text = decodeText(body.subarray(0, MOST_BYTES), contentType);
  const said: string[] = [];
  const codes: string[] = [];
  const all: string[] = [];
  let isSaying = false;
  for (const { before, tag, name, isEnd } of tagsOf(text.replaceAll("<![CDATA[", "").replaceAll("]]>", ""))) {
    all.push(before);
    if (isSaying) said.push(before);
    if (SAYING.has(name)) isSaying = !isEnd && !tag.endsWith("/>");
    // Some exceptions have only a code.
    if (!isEnd && /^(?:service)?exception$/.test(name)) codes.push(/\s\w*[cC]ode="([^"]*)"/.exec(tag)?.[1] ?? "");
  }
  return { said, codes: codes.filter((code) => code !== ""), all };
}

interface Tag {
  /** The text before the tag, without the text of scripts and styles. */
  readonly before: string;
  /** The tag with its brackets; "" at the end of the document. */
  readonly tag: string;
  /** The name of the tag in lower case, without a prefix. */
  readonly name: string;
  readonly isEnd: boolean;
}

/** Yields the tags of a document and the text between them. An opening bracket without a closing one is text. */
function* tagsOf(markup: string): Generator<Tag> {
  // Converts ASCII letters only, because the lower case of some other letters is longer, which would shift positions.
  const lower = markup.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  /** Element names without a further end tag, which is not searched for again. */
  const open = new Set<string>();
  let at = 0;
  for (;;) {
    const from = markup.indexOf("<", at);
    const close = from < 0 ? -1 : markup.indexOf(">", from);
    if (close < 0) break;
    const tag = markup.slice(from, close + 1);
    const [, slash = "", name = ""] = /^<(\/?)(?:\w+:)?(\w*)/.exec(lower.slice(from, close)) ?? [];
    yield { before: markup.slice(at, from), tag, name, isEnd: slash !== "" };
    at = close + 1;
    if (slash !== "" || !HIDDEN.has(name) || open.has(name)) continue;
    const end = lower.indexOf(`</${name}>`, at);
    if (end < 0) open.add(name);
    else at = end;
  }
  yield { before: markup.slice(at), tag: "", name: "", isEnd: true };
}

function plainWords(texts: readonly string[]): string {
  const plain = texts
    .join(" ")
    .replaceAll("&nbsp;", " ")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replace(/&(?:apos|#39);/g, "'")
    .replaceAll("&amp;", "&")
    .replace(/https?:\/\/\S+/gi, "…")
    // Control characters of an upstream must not reach a log line.
    .replace(/[\s\p{C}]+/gu, " ")
    .trim();
  return plain.length > MOST_WORDS ? `${plain.slice(0, MOST_WORDS).replace(/[\ud800-\udbff]$/, "")}…` : plain;
}
