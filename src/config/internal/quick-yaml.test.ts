import fc from "fast-check";
import { expect, test } from "vitest";
import { parseDocument } from "yaml";
import { quickYaml } from "./quick-yaml.ts";

const ITEM = `  - name: ws:roads
    title: Roads, number 1 # a comment
    source: { type: wms, url: "http://127.0.0.1:9/wms?map=/a%20b&x=1", layers: [roads], transparent: true, password: "\${WMS:-x}" }
    gridSubsets: [{ gridSet: EPSG:900913 }, { gridSet: EPSG:4326, extent: [-5.5, 45, 15e1, +55], zoomStop: 18 }]
    formats: [image/png, 'image/jpeg']
    parameterFilters:
      - { type: string, key: STYLES, default: "", values: [a, b] }
      - type: regex
        key: CQL_FILTER
        default: ''
        regex: "a\\\\d+|b"
    description: |
      some text
        more
    abstract: >-
      folded
      text
    keywords:
    - one
    - ~
    bgColor: 0x12
    plain: http://host/wms?a=b&c=d#e
    date: 2020-01-02
    numbers: [0o17, 010, 1., .5, 1e3, .inf, -.inf, .NaN, 9007199254740993, yes, null]
`;

/** Returns what the other parser reads; "a mistake": it refuses the text. */
function slow(text: string): unknown {
  const document = parseDocument(text, { prettyErrors: false, merge: true, uniqueKeys: true });
  return document.errors.length + document.warnings.length > 0 ? "a mistake" : document.toJS();
}

test("a layer as it is commonly written is read quickly", () => {
  const plain = ITEM.split("\n")
    .filter((line) => !line.includes("numbers:"))
    .join("\n");
  expect(quickYaml(plain)).toEqual(slow(plain));
  expect(quickYaml(plain)).toBeDefined();
});

test.each([
  "- a: [1,\n    2]",
  '- a: "b\n  c"',
  "- &a b",
  "- !!str 1",
  "- { a, b,: c }",
  "- a: 1_000",
  "- a: -.5",
  "- a:\tb",
  "- a: 1\n  a: 2",
  "- a: b: c",
])("%j is left to the parser that has places", (text) => {
  expect(quickYaml(text)).toBeUndefined();
});

test("whatever is read quickly is read the same by the other parser", () => {
  const pieces = [" ", "\n", "#", ":", "-", "?", ",", "[", "]", "{", "}", "'", '"', "|", ">", "%", "@", "`", "!", "~"];
  const more = [
    "\\",
    "0",
    "1",
    "_",
    ".",
    "e",
    "x",
    "o",
    "+",
    "é",
    "\r\n",
    ": ",
    "- ",
    " #",
    "true",
    "null",
    "<<",
    "=",
    "    ",
  ];
  const edit = fc.record({
    at: fc.nat(ITEM.length),
    removed: fc.nat(3),
    put: fc.constantFrom(...pieces, ...more, ""),
  });
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
      const text = edits.reduce((now, { at, removed, put }) => now.slice(0, at) + put + now.slice(at + removed), ITEM);
      const quick = quickYaml(text);
      if (quick !== undefined) expect(quick, text).toEqual(slow(text));
    }),
    { numRuns: 400 },
  );
});
