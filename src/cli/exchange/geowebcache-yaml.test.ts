import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { realisticFile } from "../../../test/support/geowebcache-file.ts";
import { gridSetContent, unitWarning } from "../../gwc/layer-content.ts";
import { inForce, readFile } from "../../http/configuration/file/read-file.ts";
import { geoWebCacheFileOf } from "./geowebcache-file-of.ts";
import { readGeoWebCache } from "./geowebcache-source.ts";
import { yamlOf } from "./geowebcache-yaml.ts";
import { problemsOfText } from "./problems-of-text.ts";

function directoryWith(text: string): string {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-gwc-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, "geowebcache.xml"), text);
  return directory;
}

test("a realistic file becomes a configuration file that is valid, names what has no effect, and has no secret", async () => {
  const taken = await readGeoWebCache(directoryWith(realisticFile("/srv/gwc", "http://127.0.0.1:9/wms")), undefined);
  const { text, variables } = yamlOf(taken);
  expect(await problemsOfText(text, Object.fromEntries(variables.map((name) => [name, "x"])))).toEqual([]);
  expect(variables).toEqual(["PASSWORD_CITY_BASE", "PASSWORD_ORTHO_PHOTOS", "PASSWORD_CITY_OLD"]);
  expect(text).not.toContain("password: secret");
  expect(text).toContain("# Left out: the store az of the kind AzureBlobStore, which is not used.");
  expect(text).toMatch(/enabled: false\n\s+name: city:old|name: city:old\n\s+enabled: false/);
  expect(text).toMatch(/# No effect: .*useETags/);
  expect(text.indexOf("id: fast")).toBeLessThan(text.indexOf("id: slippy"));
});

test("a grid set without metersPerUnit keeps GeoWebCache's metre, with a warning where the CRS has another unit", async () => {
  const gridSet = (srs: number, more = "") =>
    `<gridSet><name>g${srs}</name><srs><number>${srs}</number></srs><extent><coords><double>0</double><double>0</double><double>9</double><double>9</double></coords></extent>${more}</gridSet>`;
  const sets =
    gridSet(2263) + gridSet(4326) + gridSet(25832) + gridSet(4258, "<metersPerUnit>111319.49</metersPerUnit>");
  const taken = await readGeoWebCache(
    directoryWith(
      `<gwcConfiguration xmlns="http://geowebcache.org/schema/1.20.0"><gridSets>${sets}</gridSets></gwcConfiguration>`,
    ),
    undefined,
  );
  const read = taken.objects.flatMap(({ kind, document }) =>
    kind === "gridSet" && document !== undefined ? [document] : [],
  );
  expect(read.map((document) => gridSetContent(document)["metersPerUnit"])).toEqual([
    1,
    undefined,
    undefined,
    111319.49,
  ]);
  expect(read.map(unitWarning)).toEqual([
    "the grid set g2263: metersPerUnit: a unit of EPSG:2263 has 0.3048006096012192 m, this grid set takes 1 m: clients place its tiles by the unit of the CRS",
    undefined,
    undefined,
    undefined,
  ]);
  expect(yamlOf(taken).text.match(/metersPerUnit: .*/g)).toEqual(["metersPerUnit: 1", "metersPerUnit: 111319.49"]);
});

test("without a default store the directory is the first one, so that its tiles stay in use", async () => {
  const layer = "<wmsLayer><name>a</name><wmsUrl><string>http://127.0.0.1:9/wms</string></wmsUrl></wmsLayer>";
  const directory = directoryWith(
    `<gwcConfiguration xmlns="http://geowebcache.org/schema/1.20.0"><layers>${layer}</layers></gwcConfiguration>`,
  );
  const { text } = yamlOf(await readGeoWebCache(directory, undefined));
  expect(text).toContain(`path: ${directory}`);
  expect(await problemsOfText(text, {})).toEqual([]);
});

test("objects become a geowebcache.xml that holds them, in GeoWebCache's order", () => {
  const read = readFile(Buffer.from(realisticFile("/srv/gwc", "http://127.0.0.1:9/wms")));
  if (!read.ok) throw new Error("the file cannot be read");
  const objects = inForce(read.value.objects);
  const { text } = geoWebCacheFileOf(objects);
  const again = readFile(Buffer.from(text));
  expect(again.ok && inForce(again.value.objects)).toEqual(objects);
  const order = ["<backendTimeout>60", "<serviceInformation>", "<blobStores>", "<gridSets>", "<fullWMS>", "<layers>"];
  const places = order.map((part) => text.indexOf(part));
  expect(places).toEqual([...places].sort((a, b) => a - b));
});
