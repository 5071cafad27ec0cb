import { expect, test } from "vitest";
import { GRID_SET_ROOTS, LAYER_ROOTS } from "../../fields/gwc-elements.ts";
import { BLOB_STORE_ROOTS } from "../../fields/gwc-store-elements.ts";
import { decodeDocument } from "./decode-document.ts";

test.each([
  ["a grid set", GRID_SET_ROOTS, "gridSet"],
  ["a layer", LAYER_ROOTS, "wmsLayer"],
  ["a blob store", BLOB_STORE_ROOTS, "FileBlobStore"],
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
