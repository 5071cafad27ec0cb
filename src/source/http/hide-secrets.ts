import { escapeXml } from "../../lib/escape.ts";

/** A parameter may be a key. A shorter value is a word that messages need. */
const SHORTEST_KEY = 8;
/** The part of a body that messages take words from, in bytes. */
const LONGEST_TEXT = 64 * 1024;

/** Returns the parts of an address that may identify a server or grant access to it. */
export const secretsIn = ({ host, hostname, searchParams }: URL): readonly string[] => [
  host,
  hostname,
  ...[...searchParams.values()].filter(isKey),
];

export const isKey = (value: string): boolean => value.length >= SHORTEST_KEY;

/** Removes secrets from texts: error pages name their server, and some repeat the request. */
export interface SecretHider {
  hide(text: string): string;
  /**
   * Returns the beginning of a body without the secrets. They must be removed before the text is shortened, because a
   * part of a secret would not be recognized.
   */
  hideIn(body: Uint8Array): Uint8Array;
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
    hideIn: (body) => {
      const text = Buffer.from(body.subarray(0, LONGEST_TEXT)).toString("utf8");
      const hidden = hide(text);
      return hidden === text ? body : Buffer.from(hidden);
    },
  };
}

/** Returns the forms of a value: plain, in an address, in an address within an address, and in a page. */
function formsOf(value: string): readonly string[] {
  const encoded = encodeURIComponent(value);
  const inQuery = new URLSearchParams({ "": value }).toString().slice(1);
  const inPage = escapeXml(value);
  return [value, encoded, inQuery, encodeURIComponent(encoded), inPage, inPage.replaceAll("&amp;", "&#38;")];
}

const escapeRegExp = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|\-/]/g, "\\$&");
