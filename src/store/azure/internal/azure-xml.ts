import { childrenNamed, firstAt, parseXml, type XmlElement } from "../../../lib/text/xml-element.ts";
import type { ListPage } from "../../remote/bucket.ts";
import { timeOf } from "../../remote/service-bucket.ts";

const textAt = (element: XmlElement | undefined, ...path: readonly string[]): string =>
  firstAt(element, ...path)?.text ?? "";

/** Returns a name of a listing. A name that XML cannot have is encoded. */
function nameOf(element: XmlElement): string {
  const name = firstAt(element, "Name");
  const text = name?.text ?? "";
  return name?.attributes["Encoded"] === "true" ? decodeURIComponent(text) : text;
}

/**
 * Parses a page of List Blobs.
 * @throws Error when the page is not well-formed
 */
export function parsePage(text: string): ListPage {
  const root = parseXml(text);
  if (!root.ok) throw new Error(root.error);
  if (root.value.name !== "EnumerationResults") throw new Error(`the root is ${root.value.name}`);
  const blobs = firstAt(root.value, "Blobs");
  const next = textAt(root.value, "NextMarker");
  return {
    objects: childrenNamed(blobs, "Blob").map((blob) => ({
      key: nameOf(blob),
      bytes: Number(textAt(blob, "Properties", "Content-Length")),
      modifiedMs: timeOf(textAt(blob, "Properties", "Last-Modified")),
    })),
    prefixes: childrenNamed(blobs, "BlobPrefix").map(nameOf),
    next: next === "" ? undefined : next,
  };
}
