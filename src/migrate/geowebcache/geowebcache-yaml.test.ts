import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { realisticFile } from "../../../test/support/stores/geowebcache-file.ts";
import { inForce, readFile } from "../../configuration/geowebcache/read-file.ts";
import { gridSetContent, unitWarning } from "../../configuration/gwc/grid-set-object.ts";
import { problemsOfText } from "../problems-of-text.ts";
import { geoWebCacheFileOf } from "./geowebcache-file-of.ts";
import { readGeoWebCache } from "./geowebcache-source.ts";
import { translationOf, validYamlOf, yamlOf } from "./geowebcache-yaml.ts";
import { changesOf, elementReports } from "./honoured.ts";

function directoryWith(text: string): string {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-gwc-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, "geowebcache.xml"), text);
  return directory;
}

test("a realistic file becomes a configuration file that is valid, names what has no effect, and has no secret", async () => {
  const taken = await readGeoWebCache(directoryWith(realisticFile("/srv/gwc", "http://127.0.0.1:9/wms")));
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
    "the grid set g2263: metersPerUnit: a unit of EPSG:2263 has 0.3048006096012192 m, and this grid set has 1 m: clients place its tiles by the unit of the CRS",
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
  const { text } = yamlOf(await readGeoWebCache(directory));
  expect(text).toContain(`path: ${directory}`);
  expect(await problemsOfText(text, {})).toEqual([]);
});

test("a directory of GeoWebCache that is the working directory is a store that a server takes", async () => {
  const { text } = yamlOf(await readGeoWebCache(directoryWith(file("", wmsLayer("a")))));
  const written = text.replace(/path: .*/, `path: ${process.cwd()}`);
  expect(await problemsOfText(written, {})).toEqual([]);
});

test("relative paths are written as absolute ones, which begin where --geowebcache has them: in the working directory", async () => {
  const text = `<gwcConfiguration xmlns="http://geowebcache.org/schema/1.20.0">
    <blobStores>
      <FileBlobStore><id>a</id><enabled>true</enabled><baseDirectory>tiles/a</baseDirectory></FileBlobStore>
      <FileBlobStore><id>b</id><enabled>true</enabled><baseDirectory>/srv/b</baseDirectory></FileBlobStore>
      <FileBlobStore><id>c</id><enabled>true</enabled><baseDirectory>\${TILES:/srv}/c</baseDirectory></FileBlobStore>
    </blobStores>
    <layers>
      <mbtilesLayer><name>m</name><tilesPath>./m.mbtiles</tilesPath></mbtilesLayer>
      <arcgisLayer><name>e</name><tilingScheme>e/conf.xml</tilingScheme><tileCachePath>../e</tileCachePath></arcgisLayer>
      <wmsLayer><name>w</name>
        <requestFilters><fileRasterFilter><name>r</name><zoomStart>0</zoomStart><zoomStop>2</zoomStop>
          <storagePath>rasters</storagePath><fileExtension>png</fileExtension></fileRasterFilter></requestFilters>
        <wmsUrl><string>http://127.0.0.1:9/wms?path=a</string></wmsUrl><vendorParameters>path=a&amp;file=b</vendorParameters>
      </wmsLayer>
    </layers></gwcConfiguration>`;
  const directory = directoryWith(text);
  const cwd = process.cwd();
  for (const source of [directory, join(directory, "geowebcache.xml")]) {
    const { text: written } = yamlOf(await readGeoWebCache(source));
    expect(written.match(/(?:path|file|tilesPath|directory): .*/g)).toEqual([
      ...(source === directory ? [`path: ${directory}`] : []),
      `path: ${cwd}/tiles/a`,
      "path: /srv/b",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the variable of a configuration file
      "path: ${TILES:-/srv}/c",
      `file: ${cwd}/m.mbtiles`,
      `path: ${cwd}/e/conf.xml`,
      `tilesPath: ${join(cwd, "../e")}`,
      "path: a",
      "file: b",
      `directory: ${cwd}/rasters`,
    ]);
  }
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

test("what is reported as taken over is written, and what is reported as kept is not", async () => {
  const text = realisticFile("/srv/gwc", "http://127.0.0.1:9/wms").replace(
    "<wmtsCiteCompliant>false<",
    "<wmtsCiteCompliant>true<",
  );
  const taken = await readGeoWebCache(directoryWith(text));
  const before = JSON.stringify(translationOf(taken).content);
  const written = new Set<string>();
  for (const [i, { kind, name, document }] of taken.objects.entries())
    for (const [path, node] of document === undefined ? [] : changesOf(document.node, "")) {
      const key = `${kind} ${name} ${path}`;
      if (document === undefined || written.has(key)) continue;
      const objects = taken.objects.with(i, { kind, name, document: { ...document, node } });
      if (JSON.stringify(translationOf({ ...taken, objects }).content) !== before) written.add(key);
    }
  // A variable replaces each secret, so the value of a secret does not change the translation.
  const reports = elementReports(taken.objects).filter(({ path }) => !/password|awsAccessKey|awsSecretKey/i.test(path));
  const wrong = reports.filter(
    ({ kind, name, path, outcome }) =>
      outcome !== "differently" && (outcome === "taken over") !== written.has(`${kind} ${name} ${path}`),
  );
  expect(wrong).toEqual([]);
  expect(before).toContain('"title":"City of Example tiles"');
  expect(before).toContain('"wmtsCiteCompliant":true');
});

const file = (settings: string, layers: string): string =>
  `<gwcConfiguration xmlns="http://geowebcache.org/schema/1.20.0">${settings}<layers>${layers}</layers></gwcConfiguration>`;
const wmsLayer = (name: string, more = ""): string =>
  `<wmsLayer><name>${name}</name>${more}<wmsUrl><string>http://127.0.0.1:9/wms</string></wmsUrl></wmsLayer>`;

test("a layer that a server would refuse is left out alone, with the reason", async () => {
  const text = file("", `${wmsLayer("a.json")}${wmsLayer("b")}${wmsLayer("c", "<gutter>x</gutter>")}`);
  const taken = await readGeoWebCache(directoryWith(text));
  const { text: written, leftOut } = await validYamlOf(taken);
  expect(await problemsOfText(written, {})).toEqual([]);
  expect([...leftOut]).toEqual([
    ["c", expect.stringMatching(/^gutter: expected a whole number, got "x"/)],
    ["a.json", expect.stringMatching(/^name: expected a name that does not end/)],
  ]);
  expect(written).toContain("# Left out: the layer a.json: name: expected");
  expect(written).toContain("name: b\n");
});

test("a dollar and a brace are literal but where GeoWebCache replaces variables", async () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a file
  const meta = "<metaInformation><title>costs ${5} or ${PATH}</title></metaInformation>";
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a file
  const credentials = "<httpUsername>${WMS_USER:guest}</httpUsername>";
  const text = file("", `${wmsLayer("a", `${meta}${credentials}`)}`);
  const { text: written, variables } = yamlOf(await readGeoWebCache(directoryWith(text)));
  expect(written).toContain("title: costs $${5} or $${PATH}");
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a file
  expect(written).toContain("username: ${WMS_USER:-guest}");
  expect(variables).toEqual([]);
  expect(await problemsOfText(written, {})).toEqual([]);
});

test("credentials and the proxy of the settings are those of each layer without its own", async () => {
  const text = file(
    "<httpUsername>u</httpUsername><httpPassword>p</httpPassword><proxyUrl>http://127.0.0.1:3128</proxyUrl>",
    wmsLayer("a"),
  );
  const { text: written, variables } = yamlOf(await readGeoWebCache(directoryWith(text)));
  expect(written).toMatch(/username: u\n\s+password: \$\{PASSWORD_A\}\n\s+proxy: http:\/\/127\.0\.0\.1:3128/);
  expect(variables).toEqual(["PASSWORD_A"]);
});
