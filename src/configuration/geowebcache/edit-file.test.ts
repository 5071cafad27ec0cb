import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { realisticFile } from "../../../test/support/stores/geowebcache-file.ts";
import { changedObjects, changesOf, type ObjectChange } from "../gwc/configured-object.ts";
import { fieldOf, map, type RootedDocument } from "../gwc/document-node.ts";
import { editBytes } from "./edit-bytes.ts";
import { editFile } from "./edit-file.ts";
import { type LaidOutFile, layoutOf } from "./file-layout.ts";
import { type FileContent, inForce, readFile } from "./read-file.ts";

const text = realisticFile("/srv/gwc", "http://127.0.0.1:9/wms");

function read(file: string | Buffer): FileContent {
  const content = readFile(Buffer.from(file));
  if (!content.ok) throw new Error(JSON.stringify(content.error));
  return content.value;
}

function laidOut(bytes: Buffer): LaidOutFile {
  const layout = layoutOf(bytes, read(bytes));
  if (!layout.ok) throw new Error(layout.error);
  return { bytes, layout: layout.value };
}

/** Changes a file by means of its layout, and checks that the layout of the result is right. */
function edited(bytes: Buffer, changes: readonly ObjectChange[]): Buffer {
  const after = editBytes(laidOut(bytes), changes);
  if (!after.ok) throw new Error(JSON.stringify(after.error));
  const { pieces, layout } = after.value;
  const joined = Buffer.concat(pieces);
  expect(layout).toEqual(laidOut(joined).layout);
  return joined;
}

const documentIn = (content: FileContent, kind: ObjectChange["kind"], name: string): RootedDocument => {
  const found = inForce(content.objects).find((object) => object.kind === kind && object.name === name)?.document;
  if (found === undefined) throw new Error(`no ${kind} ${name}`);
  return found;
};

const withField = ({ root, node }: RootedDocument, name: string, value: string | number | boolean): RootedDocument => ({
  root,
  node: { ...node, fields: [...node.fields.filter(([other]) => other !== name), [name, value]] },
});

const wms = (name: string): RootedDocument => ({
  root: "wmsLayer",
  node: map([
    ["name", name],
    ["wmsUrl", { kind: "list", items: [["string", "http://127.0.0.1:9/wms?"]] }],
  ]),
});

/** Returns the lines that only the first text has, and the lines that only the second text has. */
function difference(before: string, after: string): { readonly gone: string[]; readonly added: string[] } {
  const [old, now] = [before.split("\n"), after.split("\n")];
  return { gone: old.filter((line) => !now.includes(line)), added: now.filter((line) => !old.includes(line)) };
}

test("a change of one layer leaves the other layers and what stands between them as they are", () => {
  const odd = text
    .replace('encoding="utf-8"', 'encoding="ISO-8859-1"')
    .replace("<name>city:old</name>", "<name>r\u00fccken</name>")
    .replace(
      "  </layers>",
      "    <!--run 0-->\n    <!-- <wmsLayer/> --></layers>\n<layers>\n\t<wmsLayer><name>z</name></wmsLayer>\n</layers>",
    )
    .replace(
      "    <wmsLayer>\n      <name>city:base",
      "    <wmsLayer><name>a</name></wmsLayer><wmsLayer><name>b</name></wmsLayer>\n    <wmsLayer>\n      <name>city:base",
    );
  const bytes = Buffer.from(odd, "latin1");
  const content = read(bytes);
  for (const name of ["a", "b", "city:base", "ortho photos", "r\u00fccken", "z", "new"])
    for (const document of [wms(name), undefined]) {
      const change: ObjectChange = { kind: "layer", name, document };
      expect(edited(bytes, [change]).toString("latin1"), name).toBe(editFile(content, [change]));
    }
});

test("a file in UTF-8 keeps its byte order mark and its other characters", () => {
  const bytes = Buffer.from(`\ufeff${text.replace("<name>city:old</name>", "<name>r\u00fccken \ud83d\uddfa</name>")}`);
  const change: ObjectChange = { kind: "layer", name: "new", document: wms("new") };
  const after = edited(bytes, [change]);
  expect(after.toString()).toBe(`\ufeff${editFile(read(bytes), [change])}`);
  expect(edited(after, [{ ...change, document: undefined }]).equals(bytes)).toBe(true);
});

test("a file in ISO-8859-1 stays in it, also if its bytes are text in UTF-8", () => {
  const declared = text.replace('encoding="utf-8"', 'encoding="ISO-8859-1"');
  const bytes = Buffer.from(declared.replace("<name>city:old</name>", "<name>\u00c3\u00bc</name>"), "latin1");
  const after = edited(bytes, [{ kind: "layer", name: "new", document: wms("new") }]);
  expect(after.toString("latin1")).toContain("<name>\u00c3\u00bc</name>");
});

test("a file in an encoding without ASCII cannot be changed, nor one with prefixes", () => {
  const utf16 = Buffer.from(`\ufeff${text}`, "utf16le");
  expect(layoutOf(utf16, read(utf16))).toMatchObject({ ok: false });
  const prefixed = '<g:gwcConfiguration xmlns:g="http://geowebcache.org/schema/2.0.0"></g:gwcConfiguration>';
  expect(layoutOf(Buffer.from(prefixed), read(prefixed))).toMatchObject({ ok: false });
});

test("a realistic file has its objects, and without a change stays as it is", () => {
  const content = read(text);
  expect(inForce(content.objects).map(({ kind, name }) => `${kind} ${name}`)).toEqual(
    ["settings global", "store fast", "store slippy", "store s3", "store az", "store sw", "store mb"].concat(
      ["gridSet EPSG:2056", "gridSet EPSG:25833", "gridSet levels"],
      ["layer city:base", "layer ortho photos", "layer city:old"],
    ),
  );
  expect(editFile(content, [])).toBe(text);
  const same = content.objects.map(({ kind, name, document }): ObjectChange => ({ kind, name, document }));
  expect(editFile(content, same)).toBe(text);
});

describe("a change", () => {
  test("of one field leaves everything else of the file as it is, comments and unknown elements too", () => {
    const commented = text
      .replace("<gutter>32</gutter>", "<!-- wide --><gutter>32</gutter><ours>kept</ours>")
      .replace("<layers>", "<!-- all layers -->\n  <layers>")
      .replace("<runtimeStats>", "<theirs a='b'><c/></theirs>\n  <runtimeStats>");
    const content = read(commented);
    const document = withField(documentIn(content, "layer", "city:base"), "gutter", 16);
    const after = editFile(content, [{ kind: "layer", name: "city:base", document }]);
    expect(after).toBe(commented.replace("<gutter>32</gutter>", "<gutter>16</gutter>"));
  });

  test("adds an element at its place in GeoWebCache's order, and removes one with its line", () => {
    const content = read(text);
    const old = documentIn(content, "layer", "city:old");
    const document = withField(withField(old, "blobStoreId", "fast"), "gutter", 8);
    const after = editFile(content, [{ kind: "layer", name: "city:old", document }]);
    expect(after).toMatch(/<wmsLayer><blobStoreId>fast<\/blobStoreId>\n<enabled>false<\/enabled>/);
    expect(after).toMatch(/<\/wmsUrl>\n<gutter>8<\/gutter><\/wmsLayer>/);
    const without = map(documentIn(content, "settings", "global").node.fields.filter(([name]) => name !== "fullWMS"));
    const removed = editFile(content, [
      { kind: "settings", name: "global", document: { root: "global", node: without } },
    ]);
    expect(difference(text, removed)).toEqual({ gone: ["  <fullWMS>false</fullWMS>"], added: [] });
  });

  test("of the settings writes GeoWebCache's names for them, and nothing that the file's place says", () => {
    const content = read(text);
    const given = map([
      ["runtimeStatsEnabled", false],
      ["location", "/elsewhere"],
    ]);
    const put: ObjectChange = { kind: "settings", name: "global", document: { root: "global", node: given } };
    const after = editFile(content, changesOf(content.objects, put));
    expect(edited(Buffer.from(text), changesOf(content.objects, put)).toString()).toBe(after);
    expect(difference(text, after)).toEqual({
      gone: ["  <runtimeStats>true</runtimeStats>"],
      added: ["  <runtimeStats>false</runtimeStats>"],
    });
  });

  test("of the settings writes elements that are not known, too", () => {
    const content = read(text);
    const given = map([["ours", map([["x", "1"]], { a: "b" })]]);
    const put: ObjectChange = { kind: "settings", name: "global", document: { root: "global", node: given } };
    const after = editFile(content, changesOf(content.objects, put));
    expect(difference(text, after)).toEqual({ gone: [], added: ['  <ours a="b">', "    <x>1</x>", "  </ours>"] });
    expect(fieldOf(documentIn(read(after), "settings", "global").node, "ours")).toEqual(fieldOf(given, "ours"));
  });

  test("adds a layer behind the others, and removes all of a name", () => {
    const content = read(text);
    const added = editFile(content, [{ kind: "layer", name: "new", document: wms("new") }]);
    expect(added).toContain(
      "    <wmsLayer>\n      <name>new</name>\n      <wmsUrl>\n        <string>http://127.0.0.1:9/wms?</string>\n      </wmsUrl>\n    </wmsLayer>\n  </layers>",
    );
    const twice = text.replace("</layers>", "<wmsLayer><name>city:old</name></wmsLayer></layers>");
    const removed = editFile(read(twice), [{ kind: "layer", name: "city:old", document: undefined }]);
    expect(removed).not.toContain("city:old");
    expect(read(removed).objects).toHaveLength(content.objects.length - 1);
  });

  test("makes the sections that a file lacks, where GeoWebCache writes them", () => {
    const bare =
      '<gwcConfiguration xmlns="http://geowebcache.org/schema/2.0.0">\n  <version>2.0.0</version>\n</gwcConfiguration>\n';
    const document: RootedDocument = {
      root: "FileBlobStore",
      node: map(
        [
          ["id", "a"],
          ["enabled", true],
        ],
        { default: "true" },
      ),
    };
    const one = editFile(read(bare), [{ kind: "layer", name: "new", document: wms("new") }]);
    const two = editFile(read(one), [{ kind: "store", name: "a", document }]);
    expect(two).toMatch(/<version>2\.0\.0<\/version>\n {2}<blobStores>\n {4}<FileBlobStore default="true">\n/);
    expect(two.indexOf("<blobStores>")).toBeLessThan(two.indexOf("<layers>"));
    expect(read(two).objects).toHaveLength(3);
  });

  test("of the default store is written into the start tags", () => {
    const content = read(text);
    const { root, node } = documentIn(content, "store", "slippy");
    const document = { root, node: { ...node, attributes: { default: "true" } } };
    const changes = changesOf(content.objects, { kind: "store", name: "slippy", document });
    const after = editFile(content, changes);
    expect(edited(Buffer.from(text), changes).toString()).toBe(after);
    expect(after).toContain('<FileBlobStore default="false"><id>fast</id>');
    expect(after).toContain('<FileBlobStore default="true"><id>slippy</id>');
  });

  test("whatever it is, the file holds what it is to hold", () => {
    const field = fc.constantFrom("gutter", "concurrency", "backendTimeout");
    const name = fc.constantFrom("city:base", "ortho photos", "city:old", "new", "wïde & <ö>");
    const change = fc.oneof(
      fc.tuple(name, field, fc.nat(99)).map(([layer, key, value]) => ({ layer, key, value })),
      name.map((layer) => ({ layer, key: undefined, value: 0 })),
    );
    fc.assert(
      fc.property(fc.array(change, { maxLength: 6 }), (changes) => {
        let content = read(text);
        for (const { layer, key, value } of changes) {
          const before = inForce(content.objects);
          const present = before.find((object) => object.kind === "layer" && object.name === layer)?.document;
          const document = key === undefined ? undefined : sorted(withField(present ?? wms(layer), key, value));
          const made: ObjectChange = { kind: "layer", name: layer, document };
          const after = editFile(content, [made]);
          // The same file without the other layers.
          expect(edited(Buffer.from(content.text), [made]).toString()).toBe(after);
          content = read(after);
          expect(inForce(content.objects)).toEqual(changedObjects(before, made));
        }
      }),
      { numRuns: 60 },
    );
  });
});

/** Returns a layer with its fields in the order of the file, as a decoder returns them. */
function sorted(document: RootedDocument): RootedDocument {
  const content = read(
    editFile(read('<gwcConfiguration xmlns="http://geowebcache.org/schema/2.0.0"><layers/></gwcConfiguration>'), [
      { kind: "layer", name: "x", document },
    ]),
  );
  return inForce(content.objects).find(({ kind }) => kind === "layer")?.document ?? document;
}

describe("older versions of the schema", () => {
  const grids = (srs: number, bounds: string, more = ""): string =>
    `<grids><entry><srs><number>${srs}</number></srs><grid><srs><number>${srs}</number></srs><dataBounds><coords><double>1</double><double>2</double><double>3</double><double>4</double></coords></dataBounds><gridBounds><coords>${bounds}</coords></gridBounds>${more}</grid></entry></grids>`;
  const world = "<double>-180.0</double><double>-90.0</double><double>180.0</double><double>90.0</double>";
  const file = (version: string, inside: string): string =>
    `<gwcConfiguration xmlns="http://geowebcache.org/schema/${version}"><layers><wmsLayer><name>a</name>${inside}</wmsLayer></layers></gwcConfiguration>`;

  test.each(["1.0.0", "1.0.1", "1.0.2", "1.1.0", "1.1.3", "1.1.4", "1.1.5", "1.2.0", "1.2.1", "1.2.2", "9.9.9"])(
    "grids of %s are grid subsets",
    (version) => {
      const content = read(file(version, grids(4326, world, "<zoomStart>0</zoomStart><zoomStop>20</zoomStop>")));
      const subsets = fieldOf(documentIn(content, "layer", "a").node, "gridSubsets");
      expect(JSON.stringify(subsets)).toContain('["gridSetName","EPSG:4326"]');
      expect(JSON.stringify(subsets)).toContain('["zoomStop",20]');
      expect(content.objects.map(({ kind }) => kind)).toEqual(["settings", "layer"]);
    },
  );

  test("a grid of its own is a grid set of the layer's CRS", () => {
    const bounds = "<double>0</double><double>0</double><double>10</double><double>10</double>";
    const content = read(file("1.1.5", grids(2163, bounds)));
    expect(JSON.stringify(documentIn(content, "gridSet", "EPSG:2163"))).toContain('["levels",31]');
    const moved = withField(documentIn(content, "layer", "a"), "gutter", 3);
    const after = editFile(content, [{ kind: "layer", name: "a", document: moved }]);
    expect(after).toContain("<grids>");
    const other = {
      root: "wmsLayer",
      node: map([
        ["name", "a"],
        ["gridSubsets", { kind: "list", items: [] }],
      ]),
    } as const;
    expect(editFile(content, [{ kind: "layer", name: "a", document: other }])).not.toContain("<grids>");
  });

  test.each([
    ["1.5.1", true],
    ["1.6.0", true],
    ["1.8.0", false],
  ])("keywords of %s", (version, isRead) => {
    const content = read(file(version, "<metaInformation><keywords><keyword>k</keyword></keywords></metaInformation>"));
    const found = JSON.stringify(documentIn(content, "layer", "a").node).includes('["string","k"]');
    expect(found).toBe(isRead);
  });
});

test.each([
  ["no namespace", "<gwcConfiguration><layers/></gwcConfiguration>", "has no namespace"],
  ["another root", "<layers/>", "expected the root gwcConfiguration"],
  ["a file that ends early", text.slice(0, 500), "line"],
  ["nothing", "", "root element"],
  ["an unknown store", text.replaceAll("AzureBlobStore", "TapeBlobStore"), "TapeBlobStore"],
  ["a bad number of a grid set", text.replace("<number>2056<", "<number>wide<"), "srs.number"],
])("%s is refused with the reason", (_, file, reason) => {
  const refused = readFile(Buffer.from(file));
  expect(JSON.stringify(refused)).toContain(reason);
  expect(refused.ok).toBe(false);
});
