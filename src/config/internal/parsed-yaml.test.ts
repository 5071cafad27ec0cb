import fc from "fast-check";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { parseYaml } from "./parsed-yaml.ts";
import type { Path } from "./problems.ts";
import { splitLayers } from "./split-layers.ts";

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

/** Returns the content, or the message that there is none. */
function contentOf({ content }: ReturnType<typeof parseYaml>): unknown {
  try {
    return content(100);
  } catch (error) {
    return String(error);
  }
}

/** Compares a text that is parsed in parts with the same text parsed as a whole. */
function expectSame(text: string): void {
  const parts = parseYaml(text, 0);
  const whole = parseYaml(text, Number.POSITIVE_INFINITY);
  expect(parts.errors.map(({ message }) => message)).toEqual(whole.errors.map(({ message }) => message));
  if (whole.errors.length > 0) return;
  const content = contentOf(whole);
  expect(contentOf(parts)).toEqual(content);
  const placesIn = ({ lines, offsetOf }: typeof parts) =>
    [...pathsOf(content), ["layers", 99], ["none"]].flatMap((path) =>
      (["key", "value"] as const).map((part) => [path, part, lines.linePos(offsetOf(path, part) ?? 0)]),
    );
  expect(placesIn(parts)).toEqual(placesIn(whole));
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

  - { name: b, source: { url: "x - y" } }
  -
    name: c
  - "text
    of two lines"
# at the end
gridSets:
  - id: d
jobs: { x: 1 }
`;

test("layers are parsed one by one, with the same content and the same places", () => {
  expect(splitLayers(FORMS, 0)?.items).toHaveLength(4);
  expectSame(FORMS);
  expectSame(FORMS.replaceAll("\n", "\r\n"));
  expectSame(FORMS.slice(0, FORMS.indexOf("# at the end")).trimEnd());
});

test.each([
  ["a mistake in a layer", "layers:\n  - { name: a\n  - name: b\n"],
  ["a mistake behind the layers", "layers:\n  - name: a\nx: [\n"],
  ["a key given twice", "layers:\n  - name: a\n    name: b\n"],
  ["layers given twice", "layers:\n  - name: a\nlayers:\n  - name: b\n"],
  ["an anchor", "layers:\n  - &a { name: a }\n  - *a\n"],
  ["a list without indentation", "layers:\n- name: a\n- name: b\nx: 1\n"],
  ["no list", "layers:\n  name: a\n"],
  ["a merge key without a map", "layers:\n  - { name: a, <<: b }\n"],
  ["nothing", "layers:\n"],
  ["a quoted text at the column of the items", 'layers:\n  - "a\n  - b"\n  - c\n'],
])("%s is read as in the whole document", (_, text) => {
  expectSame(text);
});

test("any layers are read as in the whole document", () => {
  const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
  const layer = fc.dictionary(
    fc.string({ minLength: 1 }),
    fc.oneof(value, fc.array(value), fc.dictionary(fc.string(), value)),
  );
  const document = fc.record({ layers: fc.array(layer, { minLength: 1 }), jobs: fc.dictionary(fc.string(), value) });
  fc.assert(
    fc.property(document, fc.constantFrom(2, 4), (content, indent) => {
      expectSame(stringify(content, { indent, aliasDuplicateObjects: false }));
    }),
  );
});
