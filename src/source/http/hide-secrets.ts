import type { UpstreamOptions } from "../../layer/source-options.ts";
import { escapeXml } from "../../lib/text/escape.ts";
import type { UpstreamAnswer } from "./image-response.ts";
import { decodeText } from "./response-text.ts";

/** The fewest characters of a parameter that may be a key. A shorter value is a word that messages need. */
const SHORTEST_KEY = 8;
/** The bytes at the beginning of a body that messages may quote. */
const LONGEST_TEXT = 64 * 1024;

/** Returns the parts of an address that may identify a server or grant access to it. */
export const secretsIn = ({ host, hostname, search, searchParams }: URL): readonly string[] => [
  host,
  hostname,
  ...[...searchParams.values(), ...writtenValues(search)].filter(isKey),
];

/** Returns the values of a query as written, because escapes of bytes that are not UTF-8 cannot be decoded. */
const writtenValues = (search: string): readonly string[] =>
  search
    .slice(1)
    .split("&")
    .map((part) => part.slice(part.indexOf("=") + 1));

/** A path segment of at least this many characters may be a key. */
const LONGEST_SEGMENT = 20;

/**
 * Returns the path and query of a request without its host, credentials and possible keys. Possible keys are the values
 * of vendor parameters, the values in the query of the configured address, and the address's long path segments.
 * @param address the configured address; its placeholders are in braces
 */
export function shownRequest(
  { pathname, search }: URL,
  address: string,
  { vendorParameters }: Pick<UpstreamOptions, "vendorParameters">,
): string {
  // `URL` rejects a host with a placeholder, so the host is replaced.
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
   * Returns an answer with the secrets removed from the beginning of its body, which becomes UTF-8 if it contained
   * secrets. Must run before the text is shortened, because a part of a secret would not be recognized.
   */
  hideIn(answer: UpstreamAnswer): UpstreamAnswer;
}

export function hiding(values: readonly string[]): SecretHider {
  const patterns = [...new Set(values.filter((value) => value !== "").flatMap(formsOf))]
    // Longest first, because a form may be part of a longer one.
    .sort((a, b) => b.length - a.length)
    .map((form) => {
      const literal = escapeRegExp(form);
      // A short form may be part of a word, so it is hidden only as a whole word.
      return new RegExp(isKey(form) ? literal : `(?<![\\w.-])${literal}(?![\\w-])`, "gi");
    });
  const hide = (text: string): string => patterns.reduce((left, pattern) => left.replace(pattern, "…"), text);
  return {
    hide,
    hideIn: (answer) => {
      const text = decodeText(answer.body.subarray(0, LONGEST_TEXT), answer.contentType);
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
