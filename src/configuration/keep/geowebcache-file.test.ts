import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { ReadXmlFile } from "../geowebcache/directory.ts";
import { digestOf, layoutOf } from "../geowebcache/file-layout.ts";
import { readFile } from "../geowebcache/read-file.ts";
import { map } from "../gwc/document-node.ts";
import { GeoWebCacheFile } from "./geowebcache-file.ts";

/** So many layers that the file is compared in several parts. */
const LAYERS = 20_000;

const layerText = (name: string): string => `    <wmsLayer>\n      <name>${name}</name>\n    </wmsLayer>\n`;
const fileText = (names: readonly string[]): string =>
  `<gwcConfiguration xmlns="http://geowebcache.org/schema/2.0.0">\n  <layers>\n${names.map(layerText).join("")}  </layers>\n</gwcConfiguration>\n`;

function readBack(path: string): ReadXmlFile {
  const bytes = readFileSync(path);
  const content = readFile(bytes);
  if (!content.ok) expect.fail(JSON.stringify(content.error));
  return { digest: digestOf(bytes), layout: layoutOf(bytes, content.value) };
}

test("changes follow each other, and a file that was edited between two of them is not written until it is read", async () => {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-geowebcache-file-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, "geowebcache.xml");
  let names = Array.from({ length: LAYERS }, (_, i) => `layer${i}`);
  writeFileSync(path, fileText(names));
  const file = new GeoWebCacheFile(path, readBack(path));
  const add = (name: string) =>
    file.write([{ kind: "layer", name, document: { root: "wmsLayer", node: map([["name", name]]) } }]);
  const remove = (name: string) => file.write([{ kind: "layer", name, document: undefined }]);
  for (const [added, removed] of [
    ["a", "layer7"],
    ["b", "layer19999"],
    ["c", "layer0"],
  ] as const) {
    expect((await add(added)).ok).toBe(true);
    expect((await remove(removed)).ok).toBe(true);
    names = [...names.filter((one) => one !== removed), added];
    expect(readFileSync(path, "utf8")).toBe(fileText(names));
  }
  const written = readFileSync(path, "utf8");
  for (const edited of [written.replace("layer19000<", "LAYER19000<"), `${written}\n`, written.slice(0, -1)]) {
    writeFileSync(path, edited);
    expect(await add("d")).toMatchObject({ ok: false, error: { code: "conflict" } });
    expect(readFileSync(path, "utf8")).toBe(edited);
  }
  file.wasRead(readBack(path));
  for (const name of ["d", "e"]) expect((await add(name)).ok).toBe(true);
  names.push("d", "e");
  expect(readFileSync(path, "utf8")).toBe(fileText(names).slice(0, -1));
});
