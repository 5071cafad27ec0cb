import fc from "fast-check";
import { expect, test } from "vitest";
import type { ObjectChange } from "../gwc/configured-object.ts";
import { map } from "../gwc/document-node.ts";
import { editBytes } from "./edit-bytes.ts";
import { editFile } from "./edit-file.ts";
import { type LaidOutFile, layoutOf } from "./file-layout.ts";
import { type FileContent, readFile } from "./read-file.ts";

function read(bytes: Buffer): FileContent {
  const content = readFile(bytes);
  if (!content.ok) expect.fail(JSON.stringify(content.error));
  return content.value;
}

function laidOut(bytes: Buffer): LaidOutFile {
  const layout = layoutOf(bytes, read(bytes));
  if (!layout.ok) expect.fail(layout.error);
  return { bytes, layout: layout.value };
}

const name = fc.constantFrom("a", "b", "c", "d", "ü", "new");
/** The text between two layers, or after the last one. */
const gap = fc.constantFrom(
  "",
  "\n    ",
  "\r\n\t",
  "\n    <!-- ü -->\n    ",
  "\n  </layers>\n  <layers>\n    ",
  "</layers><gridSets/><theirs>ü</theirs><layers>",
);
const file = fc
  .record({
    layers: fc.array(fc.tuple(gap, name), { maxLength: 12 }),
    end: gap,
    encoding: fc.constantFrom("utf-8", "latin1"),
  })
  .map(({ layers, end, encoding }) => {
    const declared = encoding === "latin1" ? "ISO-8859-1" : encoding;
    const texts = layers.map(([before, one]) => `${before}<wmsLayer><name>${one}</name></wmsLayer>`);
    return Buffer.from(
      `<?xml version="1.0" encoding="${declared}"?>\n<gwcConfiguration xmlns="http://geowebcache.org/schema/2.0.0">\n  <layers>${texts.join("")}${end}</layers>\n</gwcConfiguration>\n`,
      encoding === "latin1" ? "latin1" : "utf-8",
    );
  });
const change = fc.tuple(name, fc.constantFrom(undefined, 0, 16)).map(
  ([layer, gutter]): ObjectChange => ({
    kind: "layer",
    name: layer,
    document:
      gutter === undefined
        ? undefined
        : {
            root: "wmsLayer",
            node: map([
              ["name", layer],
              ["gutter", gutter],
            ]),
          },
  }),
);

test("the bytes after changes are those of a file that was changed as a whole, and their layout is theirs", () => {
  fc.assert(
    fc.property(file, fc.uniqueArray(change, { maxLength: 3, selector: ({ name }) => name }), (bytes, changes) => {
      const before = laidOut(bytes);
      const edited = editBytes(before, changes);
      if (!edited.ok) expect.fail(JSON.stringify(edited.error));
      const after = Buffer.concat(edited.value.pieces);
      expect(after.toString(before.layout.encoding)).toBe(editFile(read(bytes), changes));
      expect(edited.value.layout).toEqual(laidOut(after).layout);
    }),
    { numRuns: 300 },
  );
});
