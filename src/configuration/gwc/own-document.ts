import { type Content, isMap } from "../../lib/is-map.ts";
import { map, type RootedDocument, textOf } from "./document-node.ts";

/**
 * The root of documents of objects that were made under `/api/v1`. Such a document has the keys of the configuration
 * file, many of which GeoWebCache lacks.
 */
const OWN_ROOT = "own";

export const ownDocument = (content: Content): RootedDocument => ({
  root: OWN_ROOT,
  node: map([["content", JSON.stringify(content)]]),
});

/** Returns the content of an object that was made under `/api/v1`. Undefined for a document of GeoWebCache. */
export function ownContent({ root, node }: RootedDocument): Content | undefined {
  if (root !== OWN_ROOT) return undefined;
  const content: unknown = JSON.parse(textOf(node, "content") ?? "{}");
  return isMap(content) ? content : {};
}
