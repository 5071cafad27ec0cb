import fc from "fast-check";
import { expect, test } from "vitest";
import { type DocumentNode, double, type MapNode, type NamedNode, type RootedDocument } from "../document-node.ts";
import type { FieldType, FieldTypes, MapType } from "../element.ts";
import { OBJECTS } from "../object-kinds.ts";
import { GLOBAL_ROOTS } from "../settings.ts";
import { decodeDocument } from "./decode-document.ts";
import { encodeJson, encodeXml } from "./encode-document.ts";

/** A text that a document stores unchanged: no white space at its ends, only characters that XML allows. */
const text = fc
  .string({ unit: "grapheme", maxLength: 12 })
  .map((given) => given.replace(/\p{Cc}|\p{Cs}|\ufffe|\uffff/gu, "").trim());

function nodeOf(type: FieldType): fc.Arbitrary<DocumentNode> {
  if (type === "text") return text;
  if (type === "flag") return fc.boolean();
  if (type === "integer") return fc.integer();
  if (type === "double") return fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => double(value + 0));
  if ("map" in type) return mapOf(type.map, type.attributes);
  if ("repeated" in type)
    return fc
      .array(nodeOf(type.repeated), { minLength: 1, maxLength: 3 })
      .map((items) => ({ kind: "repeated", items }));
  const named: fc.Arbitrary<NamedNode> =
    "list" in type
      ? fc.tuple(fc.constant(type.list), nodeOf(type.of))
      : fc.oneof(...Object.entries(type.kinds).map(([name, kind]) => fc.tuple(fc.constant(name), nodeOf(kind))));
  return fc.array(named, { maxLength: 3 }).map((items) => ({ kind: "list", items }));
}

function mapOf(types: FieldTypes, attributes: readonly string[] = []): fc.Arbitrary<MapNode> {
  const fields = Object.entries(types).map(([name, type]) =>
    fc
      .option(nodeOf(type), { nil: undefined, freq: 2 })
      .map((node): NamedNode[] => (node === undefined ? [] : [[name, node]])),
  );
  const given = fc
    .tuple(
      ...attributes.map((name) =>
        fc.option(
          text.map((value) => [name, value] as const),
          { nil: undefined },
        ),
      ),
    )
    .map((pairs) => Object.fromEntries(pairs.filter((pair) => pair !== undefined)));
  return fc.record({
    kind: fc.constant("map" as const),
    attributes: given,
    fields: fc.tuple(...fields).map((all) => all.flat()),
  });
}

/** Gives each filter a key that no other filter has, because in JSON the kind of a filter is found by its key. */
function withKeys(node: MapNode): MapNode {
  const keyed = (filter: DocumentNode, i: number): DocumentNode =>
    typeof filter === "object" && filter.kind === "map"
      ? { ...filter, fields: [["key", `K${i}`], ...filter.fields.filter(([name]) => name !== "key")] }
      : filter;
  const fields = node.fields.flatMap(([name, value]): NamedNode[] => {
    // JSON loses the kinds of these filters.
    if (name === "requestFilters") return [];
    if (name !== "parameterFilters" || typeof value !== "object" || value.kind !== "list") return [[name, value]];
    return [[name, { ...value, items: value.items.map(([kind, filter], i): NamedNode => [kind, keyed(filter, i)]) }]];
  });
  // Leaves out the password: `***` would be replaced by the present secret.
  return { ...node, fields: fields.filter(([name]) => name !== "httpPassword") };
}

const rooted = (roots: Readonly<Record<string, MapType>>): fc.Arbitrary<RootedDocument> =>
  fc.oneof(
    ...Object.entries(roots).map(([root, { map, attributes }]) =>
      mapOf(map, attributes).map((node): RootedDocument => ({ root, node: withKeys(node) })),
    ),
  );

test.each([
  ["layers", OBJECTS.layer.roots],
  ["grid sets", OBJECTS.gridSet.roots],
  ["stores", OBJECTS.store.roots],
  ["the settings", GLOBAL_ROOTS],
])("documents of %s come back from XML and from JSON", (_, roots) => {
  fc.assert(
    fc.property(rooted(roots), (document) => {
      const { root, node } = document;
      const xml = decodeDocument(Buffer.from(encodeXml(root, node)), "xml", { what: "it", roots });
      expect(xml).toEqual({ ok: true, value: document });
      const json = decodeDocument(Buffer.from(encodeJson(root, node)), "json", {
        what: "it",
        roots,
        present: document,
      });
      expect(json).toEqual({ ok: true, value: document });
    }),
    { numRuns: 60 },
  );
});

test("whatever a body holds, it is decoded or refused", () => {
  const noise = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.json(),
    fc.json().map((json) => `{"wmsLayer":${json}}`),
    fc
      .array(fc.constantFrom("<wmsLayer>", "</wmsLayer>", "<name>", "</name>", "a", "<gutter/>", "&", "<!--", "]]>"))
      .map((all) => all.join("")),
  );
  fc.assert(
    fc.property(noise, fc.constantFrom("xml" as const, "json" as const), (body, format) => {
      const decoded = decodeDocument(Buffer.from(body), format, { what: "it", roots: OBJECTS.layer.roots });
      expect(decoded.ok || ["malformed", "bad_field"].includes(decoded.error.code)).toBe(true);
    }),
    { numRuns: 300 },
  );
});
