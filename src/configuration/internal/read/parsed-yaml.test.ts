import fc from "fast-check";
import { expect, test } from "vitest";
import { type Document, isAlias, isMap, isNode, isSeq, parseDocument, stringify } from "yaml";
import { TextLines } from "./configuration-file.ts";
import { parseYaml } from "./parsed-yaml.ts";
import type { Path } from "./problems.ts";

/** Returns the paths of all values. */
function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [path];
  return [
    path,
    ...Object.entries(value).flatMap(([key, item]) =>
      pathsOf(item, [...path, Array.isArray(value) ? Number(key) : key]),
    ),
  ];
}

/** Returns the offset of a value according to the parser `yaml`, which builds a tree. */
function offsetInTree(document: Document, path: Path): number | undefined {
  let node: unknown = document.contents;
  for (const key of path) {
    const inner = isAlias(node) ? node.resolve(document) : node;
    node = isMap(inner) || isSeq(inner) ? inner.get(key, true) : undefined;
  }
  return isNode(node) ? node.range?.[0] : undefined;
}

/** Compares content and positions with those of another parser. */
function expectAsOther(text: string): void {
  const parsed = parseYaml(text);
  if (!parsed.ok) throw new Error(parsed.error.message);
  const { content, offsetOf } = parsed.value;
  const other = parseDocument(text, { merge: true });
  expect(content).toEqual(other.toJS());
  const lines = new TextLines(text);
  const placeOf = (offset: number | undefined) => offset !== undefined && lines.positionOf(offset);
  for (const path of pathsOf(content)) {
    const expected = offsetInTree(other, path);
    // Empty values, merged keys and block texts have no position.
    if (expected === undefined || /^(?:[|>\s]|$)/.test(text.slice(expected))) continue;
    expect([path, placeOf(offsetOf(path, "value"))]).toEqual([path, placeOf(expected)]);
  }
}

const FORMS = `# a comment
server: { port: 1 }
layers: # the layers
  # the first
  - name: a
    title: |
      - no item
      # no comment
    formats: [image/png,
      image/jpeg]

  - &b { name: 'b', source: { url: "x - y" } }
  -
    name: c
    empty:
  - "text
    of two lines"
  - *b
  - <<: *b
    name: !!str d
? "quoted key"
: - - deep
# at the end
`;

test("values have their places, in any form", () => {
  expectAsOther(FORMS);
  expectAsOther(FORMS.replaceAll("\n", "\r\n"));
  expectAsOther(FORMS.trimEnd());
});

test("a value without a place of its own is where its key is, and one that does not exist where its parent is", () => {
  const parsed = parseYaml("a:\n  b:\n  c: |\n    text\nd: [x]\n");
  const offsetOf = (path: Path, part: "key" | "value" = "value") => parsed.ok && parsed.value.offsetOf(path, part);
  expect(offsetOf(["a", "b"])).toBe(5);
  expect(offsetOf(["a", "c"])).toBe(10);
  expect(offsetOf(["a", "none", 1])).toBe(5);
  expect(offsetOf(["d", 7])).toBe(27);
  expect(offsetOf(["d"], "key")).toBe(24);
  expect(offsetOf([])).toBe(0);
});

test.each([
  [
    "an item begins in no column",
    "layers:\n  - name: a\n   title: b\n",
    "3:4",
    "bad indentation of a sequence entry; look at",
  ],
  ["a list does not end", "layers: [a, b\nx: 1\n", "2:1", "deficient indentation; a quoted text, a [ or a { above"],
  ["a text has a colon", "a: b: c\n", "1:5", 'a text that holds ": "'],
  ["a key has no colon", "a: 1\nb\n", "3:1", "a key needs a colon"],
  ["a key stands twice", "a: 1\na: 2\n", "2:1", "duplicated mapping key"],
  ["there are two documents", "a: 1\n---\nb: 1\n", "1:1", "expected one document, got several"],
  ["an alias has no anchor", "a: *none\n", "1:5", "unidentified alias"],
  ["a tag is unknown", "a: !!js/function x\n", "1:4", "unknown scalar tag"],
  ["values are nested without end", `a: ${"[".repeat(100_000)}`, "1:53", "nesting exceeded maxDepth"],
])("a mistake is reported with its place: %s", (_, text, place, message) => {
  const parsed = parseYaml(text);
  if (parsed.ok) throw new Error("no mistake was found");
  const { line, column } = new TextLines(text).positionOf(parsed.error.offset);
  expect([`${line}:${column}`, parsed.error.message]).toEqual([place, expect.stringContaining(message)]);
});

test("a message quotes nothing of the file", () => {
  for (const text of ["a: *secret\n", "a: !secret x\n", "a: !s!secret x\n", "a: !<!secret^> x\n"]) {
    const parsed = parseYaml(text);
    expect(parsed.ok ? "" : parsed.error.message).toMatch(/^(?!.*secret)./);
  }
});

test("any document is read as by another parser", () => {
  const value = fc.oneof(fc.string(), fc.integer(), fc.double({ noNaN: true }), fc.boolean(), fc.constant(null));
  const layer = fc.dictionary(
    fc.string({ minLength: 1 }),
    fc.oneof(value, fc.array(value), fc.dictionary(fc.string(), value)),
  );
  const document = fc.record({ layers: fc.array(layer, { minLength: 1 }), jobs: fc.dictionary(fc.string(), value) });
  fc.assert(
    fc.property(document, fc.constantFrom(2, 4), (content, indent) => {
      expectAsOther(stringify(content, { indent, aliasDuplicateObjects: false }));
    }),
  );
});
