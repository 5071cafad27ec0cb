import { expect, test } from "vitest";
import { OBJECTS } from "../object-kinds.ts";
import { decodeDocument } from "./decode-document.ts";

test.each([
  ["a grid set", OBJECTS.gridSet.roots, "gridSet"],
  ["a layer", OBJECTS.layer.roots, "wmsLayer"],
  ["a blob store", OBJECTS.store.roots, "FileBlobStore"],
])("a document of %s with another root is refused with the root that would do", (what, roots, root) => {
  for (const [format, body] of [
    ["xml", "<odd/>"],
    ["json", '{"odd":{}}'],
  ] as const) {
    const decoded = decodeDocument(Buffer.from(body), format, { what, roots });
    const message = decoded.ok ? "" : JSON.stringify(decoded.error);
    expect(message).toContain(`whose root is ${Object.keys(roots).join(" or ")}`);
    expect(message).toContain(root);
  }
});
