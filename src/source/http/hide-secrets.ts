import type { UpstreamOptions } from "../../layer/layer.ts";
import { escapeXml } from "../../lib/text/escape.ts";
import type { UpstreamAnswer } from "./image-response.ts";
import { textOf } from "./response-text.ts";

/** A parameter may be a key. A shorter value is a word that messages need. */
const SHORTEST_KEY = 8;
/** The part of a body that messages take words from, in bytes. */
const LONGEST_TEXT = 64 * 1024;

/** Returns the parts of an address that may identify a server or grant access to it. */
export const secretsIn = ({ host, hostname, search, searchParams }: URL): readonly string[] => [
  host,
  hostname,
  ...[...searchParams.values(), ...writtenValues(search)].filter(isKey),
];

/** Returns the values of a query as they are written: escapes of bytes that are no UTF-8 cannot be decoded. */
const writtenValues = (search: string): readonly string[] =>
  search
    .slice(1)
    .split("&")
    .map((part) => part.slice(part.indexOf("=") + 1));

/** A segment of a path that is so long may be a key. */
const LONGEST_SEGMENT = 20;

/**
 * Returns the path and query of a request without host, credentials and what may be a key: the values of vendor
 * parameters and of the query of the configured address, and its long segments.
 * @param address the configured address; its placeholders are in braces
 */
export function shownRequest(
  { pathname, search }: URL,
  address: string,
  { vendorParameters }: Pick<UpstreamOptions, "vendorParameters">,
): string {
  // A host with a placeholder is not valid in an address.
  const configured = new URL(address.replace(/^[a-z]+:\/\/[^/?#]*/i, "http://host"));
  const fixed = [...configured.searchParams].filter(([, value]) => !value.includes("{")).map(([key]) => key);
  const hidden = new Set([...fixed, ...Object.keys(vendorParameters)].map((key) => key.toLowerCase()));
  const long = new Set(configured.pathname.split("/").filter((segment) => segment.length >= LONGEST_SEGMENT));
  const path = pathname.split("/").map((segment) => (long.has(segment) ? "…" : segment));
  const query = search
    .slice(1)
    .split("&")
    .map((part) => {
      const [[key = ""] = []] = new URLSearchParams(part);
      return hidden.has(key.toLowerCase()) ? `${part.split("=", 1)[0]}=…` : part;
    });
  return path.join("/") + (search === "" ? "" : `?${query.join("&")}`);
}

export const isKey = (value: string): boolean => value.length >= SHORTEST_KEY;

/** Removes secrets from texts: error pages name their server, and some repeat the request. */
export interface SecretHider {
  hide(text: string): string;
  /**
   * Returns an answer with the beginning of its body without the secrets, in UTF-8 if it has some. They must be removed before the text is
   * shortened, because a part of a secret would not be recognized.
   */
  hideIn(answer: UpstreamAnswer): UpstreamAnswer;
}

export function hiding(values: readonly string[]): SecretHider {
  const patterns = [...new Set(values.filter((value) => value !== "").flatMap(formsOf))]
    // The longest first, as a form may be a part of another.
    .sort((a, b) => b.length - a.length)
    .map((form) => {
      const literal = escapeRegExp(form);
      // A short form may be a part of any word.
      return new RegExp(isKey(form) ? literal : `(?<![\\w.-])${literal}(?![\\w-])`, "gi");
    });
  const hide = (text: string): string => patterns.reduce((left, pattern) => left.replace(pattern, "…"), text);
  return {
    hide,
    hideIn: (answer) => {
      const text = textOf(answer.body.subarray(0, LONGEST_TEXT), answer.contentType);
      const hidden = hide(text);
      if (hidden === text) return answer;
      return { ...answer, body: Buffer.from(hidden), contentType: withUtf8(answer.contentType) };
    },
  };
}

const withUtf8 = (contentType: string): string => contentType.replace(/(;\s*charset\s*=)[^;]*/i, "$1utf-8");

/** Returns the forms of a value: plain, in an address, in an address within an address, and in a page. */
function formsOf(value: string): readonly string[] {
  const encoded = encodeURIComponent(value);
  const inQuery = new URLSearchParams({ "": value }).toString().slice(1);
  const inPage = escapeXml(value);
  return [value, encoded, inQuery, encodeURIComponent(encoded), inPage, inPage.replaceAll("&amp;", "&#38;")];
}

const escapeRegExp = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|\-/]/g, "\\$&");
