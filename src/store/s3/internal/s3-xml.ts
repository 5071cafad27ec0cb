import { escapeXml } from "../../../lib/text/escape.ts";
import { childrenNamed, firstAt, parseXml, type XmlElement } from "../../../lib/text/xml-element.ts";
import type { ListPage } from "../../remote/bucket.ts";

/**
 * Returns the root of a text. Undefined if the root has a different name.
 * @throws Error when the text is not well-formed
 */
function rootOf(text: string, name: string): XmlElement | undefined {
  const root = parseXml(text);
  if (!root.ok) throw new Error(root.error);
  return root.value.name === name ? root.value : undefined;
}

const childText = (element: XmlElement | undefined, name: string): string => firstAt(element, name)?.text ?? "";

/**
 * Parses a page of a listing that was requested with `encoding-type=url`.
 * @throws Error when the page is not well-formed
 */
export function parsePage(text: string): ListPage {
  const root = rootOf(text, "ListBucketResult");
  // Some servers do not support the encoding.
  const isEncoded = childText(root, "EncodingType") === "url";
  const decoded = (name: string): string => (isEncoded ? decodeURIComponent(name.replaceAll("+", " ")) : name);
  return {
    objects: childrenNamed(root, "Contents").map((object) => ({
      key: decoded(childText(object, "Key")),
      bytes: Number(childText(object, "Size")),
      modifiedMs: Date.parse(childText(object, "LastModified")),
    })),
    prefixes: childrenNamed(root, "CommonPrefixes").map((prefix) => decoded(childText(prefix, "Prefix"))),
    next: childText(root, "IsTruncated") === "true" ? firstAt(root, "NextContinuationToken")?.text : undefined,
  };
}

/** Returns the body of DeleteObjects. */
export const deleteBody = (keys: readonly string[]): string =>
  `<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Quiet>true</Quiet>${keys
    .map((key) => `<Object><Key>${escapeXml(key)}</Key></Object>`)
    .join("")}</Delete>`;

/**
 * Returns the keys that DeleteObjects could not delete, with the reasons.
 * @throws Error when the text is not well-formed
 */
export function parseDeleted(text: string): { readonly key: string; readonly code: string }[] {
  if (text.trim() === "") return [];
  return childrenNamed(rootOf(text, "DeleteResult"), "Error").map((error) => ({
    key: childText(error, "Key"),
    code: childText(error, "Code") || "not deleted",
  }));
}

/** Returns the code of an error document. Undefined if the text is not one, for example a page of a proxy. */
export function parseErrorCode(text: string): string | undefined {
  const root = parseXml(text);
  return root.ok && root.value.name === "Error" ? firstAt(root.value, "Code")?.text : undefined;
}
