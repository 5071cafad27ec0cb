import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { reportText } from "../../element-report.ts";
import { problemsOfText } from "../../problems-of-text.ts";
import { foreignYaml } from "../foreign-configuration.ts";
import { withoutRefused } from "../without-refused.ts";
import { mapCacheConfiguration } from "./mapcache-configuration.ts";

function fileWith(text: string): string {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-mapcache-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, "mapcache.xml");
  writeFileSync(file, text);
  return file;
}

const REALISTIC = `<?xml version="1.0"?>
<mapcache>
  <metadata><title>City</title><abstract>Maps</abstract><url>http://127.0.0.1/</url></metadata>
  <grid name="lambert"><metadata><title>Lambert</title></metadata><extent>0 6000000 1000000 7000000</extent><srs>EPSG:2154</srs>
    <units>m</units><size>256 256</size><resolutions>2000 1000 500</resolutions><origin>top-left</origin></grid>
  <source name="wms" type="wms"><getmap><params><FORMAT>image/png</FORMAT><LAYERS>roads</LAYERS><MAP>/a.map</MAP></params></getmap>
    <getfeatureinfo><info_formats>text/plain</info_formats></getfeatureinfo>
    <http><url>http://bob:secret@127.0.0.1:9/wms?</url><headers><X-Key>k</X-Key></headers><connection_timeout>30</connection_timeout></http></source>
  <source name="gdal" type="gdal"><data>/a.tif</data></source>
  <cache name="disk" type="disk"><base>/srv/mapcache</base><symlink_blank/></cache>
  <cache name="tmpl" type="disk" layout="template"><template>/srv/t/{tileset}/{grid}/{z}/{x}/{inv_y}.{ext}</template></cache>
  <cache name="sqlite" type="sqlite3"><dbfile>/srv/a.sqlite</dbfile></cache>
  <cache name="mb" type="mbtiles"><dbfile>/srv/a.mbtiles</dbfile></cache>
  <format name="myjpeg" type="JPEG"><quality>75</quality></format>
  <tileset name="roads"><source>wms</source><cache>disk</cache><format>PNG</format>
    <grid restricted_extent="600000 5700000 1200000 6100000" minzoom="2" maxzoom="12">GoogleMapsCompatible</grid><grid>WGS84</grid><grid>lambert</grid>
    <metatile>5 5</metatile><metabuffer>10</metabuffer><expires>3600</expires><auto_expire>86400</auto_expire><watermark>/w.png</watermark>
    <metadata><title>Roads</title></metadata></tileset>
  <tileset name="jpeg"><source>wms</source><cache>tmpl</cache><format>myjpeg</format><grid>g</grid></tileset>
  <tileset name="time"><source>wms</source><cache>sqlite</cache><grid>g</grid>
    <dimensions><dimension type="values" name="time" default="2026">2026,2025</dimension></dimensions></tileset>
  <tileset name="raster"><source>gdal</source><cache>sqlite</cache><grid>g</grid></tileset>
  <tileset name="offline"><cache>disk</cache><format>JPEG</format><grid>WGS84</grid><read-only>true</read-only></tileset>
  <tileset name="archived"><source>wms</source><cache>mb</cache><grid>g</grid></tileset>
  <default_format>PNG</default_format>
  <service type="wms" enabled="true"><full_wms>assemble</full_wms></service>
  <service type="wmts" enabled="true"/>
  <lock_dir>/tmp</lock_dir>
</mapcache>`;

test("a realistic file becomes a configuration file that is valid", async () => {
  const taken = await mapCacheConfiguration(fileWith(REALISTIC));
  const text = foreignYaml("MapCache", taken);
  expect(await problemsOfText(text, { PASSWORD_WMS: "x", X_KEY_WMS: "x" })).toEqual([]);
  expect(text).not.toContain("bob:secret");
  const layer = (name: string) => taken.layers.find(({ content }) => content["name"] === name)?.content;
  expect(layer("roads")).toMatchObject({
    title: "Roads",
    source: {
      type: "wms",
      url: "http://127.0.0.1:9/wms?",
      layers: ["roads"],
      vendorParameters: { MAP: "/a.map" },
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a file
      headers: { "X-Key": "${X_KEY_WMS}" },
    },
    gridSubsets: [
      { gridSet: "EPSG:900913", extent: [600000, 5700000, 1200000, 6100000], zoomStart: 2, zoomStop: 12 },
      { gridSet: "EPSG:4326", zoomStop: 17 },
      { gridSet: "lambert" },
    ],
    tilesOnDisk: [
      { gridSet: "EPSG:900913", path: "/srv/mapcache/roads/GoogleMapsCompatible", layout: "tc", extension: "png" },
      { gridSet: "EPSG:4326", path: "/srv/mapcache/roads/WGS84", layout: "tc" },
      { gridSet: "lambert", path: "/srv/mapcache/roads/lambert", layout: "tc", rows: "top" },
    ],
    metatile: [5, 5],
    gutter: 10,
    expireCacheSeconds: 86400,
    expireClientSeconds: 3600,
    queryable: true,
    fullWms: true,
  });
  expect(layer("jpeg")).toMatchObject({
    jpegQuality: 75,
    tilesOnDisk: [{ path: "/srv/t/jpeg/g/{z}/{x}/{y}.jpg", format: "image/jpeg" }],
  });
  expect(layer("time")).toMatchObject({ parameterFilters: [{ key: "TIME", values: ["2026", "2025"] }] });
  expect(layer("offline")).toMatchObject({ source: { type: "none" }, tilesOnDisk: [{ extension: "jpg" }] });
  expect(taken.gridSets).toMatchObject([{ id: "lambert", srs: "EPSG:2154", alignTopLeft: true }]);
  expect(taken.leftOut).toEqual(["the tileset raster: the source gdal is of the type gdal (mapcache.xml:22)"]);
  expect(taken.serviceInformation).toEqual({
    title: "City",
    description: "Maps",
    serviceProvider: { providerSite: "http://127.0.0.1/" },
  });
});

test("the report names each element", async () => {
  const report = reportText((await mapCacheConfiguration(fileWith(REALISTIC))).reports);
  expect(report).toMatch(/settings\n {2}taken over: metadata.title/);
  expect(report).toMatch(/kept, without effect: .*lock_dir/);
  expect(report).toContain("kept, without effect: watermark");
  expect(report).toContain("kept, without effect: @type (tiles in sqlite3 are not read: they are rendered again)");
  expect(report).toContain(
    "kept, without effect: dbfile (once the server runs, `nuthatch import /srv/a.mbtiles archived`",
  );
  expect(report).toContain("taken over differently: symlink_blank (links are followed");
});

test("a file that is none of MapCache is refused", async () => {
  await expect(mapCacheConfiguration(fileWith("<a/>"))).rejects.toThrow("expected the root mapcache, got a");
  await expect(mapCacheConfiguration(fileWith("<mapcache>"))).rejects.toThrow("is no XML");
});

test("parameters that each request has are left out, as MapCache replaces them", async () => {
  const taken = await mapCacheConfiguration(
    fileWith(REALISTIC.replace("<MAP>/a.map</MAP>", "<MAP>/a.map</MAP><SRS>EPSG:4326</SRS><service>WMS</service>")),
  );
  expect(await problemsOfText(foreignYaml("MapCache", taken), { PASSWORD_WMS: "x", X_KEY_WMS: "x" })).toEqual([]);
  expect(reportText(taken.reports)).toContain("getmap.params.SRS");
});

test("a text with the sign of a variable stays this text", async () => {
  const taken = await mapCacheConfiguration(
    fileOf(`${tileset("a", `<grid>WGS84</grid><metadata><title>costs \${5}</title></metadata>`)}`),
  );
  const text = foreignYaml("MapCache", taken);
  expect(await problemsOfText(text, {})).toEqual([]);
  expect(text).toContain(`costs $\${5}`);
});

const fileOf = (sections: string): string =>
  fileWith(`<mapcache>
  <source name="wms" type="wms"><getmap><params><LAYERS>a</LAYERS></params></getmap><http><url>http://127.0.0.1:9/wms</url></http></source>
  <cache name="disk" type="disk"><base>/srv/mapcache</base></cache>
${sections}
</mapcache>`);
const tileset = (name: string, parts: string): string =>
  `<tileset name="${name}"><source>wms</source><cache>disk</cache>${parts}</tileset>`;
const layersOf = async (sections: string) => {
  const taken = await withoutRefused("MapCache", await mapCacheConfiguration(fileOf(sections)));
  expect(await problemsOfText(foreignYaml("MapCache", taken), {})).toEqual([]);
  return { ...taken, contents: taken.layers.map(({ content }) => content) };
};

test("dimensions have the values and expressions of their elements", async () => {
  const { contents, leftOut } = await layersOf(
    tileset(
      "a",
      `<format>PNG</format><grid>g</grid><dimensions>
      <dimension type="values" name="SEASON" default="summer"><value>summer</value><value>winter</value></dimension>
      <dimension type="values" name="one" default="x"><value>x</value></dimension>
      <dimension type="regex" name="MAPFILE" default="a.map"><regex>^[a-z]+\\.map$</regex></dimension>
      <dimension type="regex" name="PART" default="1"><regex>[0-9]|x</regex></dimension>
      <dimension type="sqlite" name="AREA" default="all"><dbfile>/a.sqlite</dbfile></dimension></dimensions>`,
    ),
  );
  expect(contents[0]?.["parameterFilters"]).toEqual([
    { type: "string", key: "SEASON", default: "summer", values: ["summer", "winter"] },
    { type: "string", key: "ONE", default: "x", values: ["x"] },
    { type: "regex", key: "MAPFILE", default: "a.map", regex: "^[a-z]+\\.map$" },
    // MapCache searches for the expression in the value.
    { type: "regex", key: "PART", default: "1", regex: "(?s:.*)(?:[0-9]|x)(?s:.*)" },
    { type: "string", key: "AREA", default: "all", values: [] },
  ]);
  expect(leftOut).toEqual([
    "the dimension AREA of the tileset a: the type sqlite has no equivalent, so all requests have its default (mapcache.xml:9)",
  ]);
});

test("the grids of the web have all 22 levels, and the code that MapCache asks for", async () => {
  const { contents } = await layersOf(
    tileset("a", "<grid>g</grid><grid>WGS84</grid>") + tileset("b", "<grid>GoogleMapsCompatible</grid>"),
  );
  expect(contents).toMatchObject([
    {
      gridSubsets: [
        { gridSet: "EPSG:900913", zoomStop: 21 },
        { gridSet: "EPSG:4326", zoomStop: 17 },
      ],
    },
    { gridSubsets: [{ gridSet: "EPSG:900913", zoomStop: 21 }], source: { crsNames: { "EPSG:900913": "EPSG:3857" } } },
  ]);
  expect(contents[0]?.["source"]).not.toHaveProperty("crsNames");
});

test("a tileset without a format has that of its source, in files called .png", async () => {
  const { contents } = await layersOf(
    `<source name="jpg" type="wms"><getmap><params><FORMAT>image/jpeg</FORMAT></params></getmap>
      <http><url>http://127.0.0.1:9/wms?layers=half&amp;map=/a.map</url></http></source><default_format>PNG8</default_format>
      <tileset name="a"><source>jpg</source><cache>disk</cache><grid>g</grid></tileset>${tileset("b", "<grid>g</grid>")}`,
  );
  expect(contents).toMatchObject([
    {
      formats: ["image/jpeg"],
      tilesOnDisk: [{ format: "image/jpeg", extension: "png" }],
      source: { url: "http://127.0.0.1:9/wms?map=/a.map", layers: ["half"] },
    },
    { formats: ["image/png"], tilesOnDisk: [{ format: "image/png", extension: "png" }] },
  ]);
});

test("what a server refuses is left out alone, with its line", async () => {
  const { contents, leftOut } = await layersOf(
    [
      tileset("a", '<grid restricted_extent="5 5 5 5">WGS84</grid><grid minzoom="30">g</grid>'),
      tileset("b", '<grid restricted_extent="500 500 600 600">WGS84</grid><grid>g</grid>'),
      tileset("c", "<read-only>perhaps</read-only><grid>g</grid>"),
      tileset(
        "d",
        '<grid>g</grid><dimensions><dimension type="regex" name="x" default="a"><regex>(?=a)a</regex></dimension></dimensions>',
      ),
    ].join("\n"),
  );
  expect(contents.map(({ name, gridSubsets }) => [name, gridSubsets])).toEqual([
    ["b", [{ gridSet: "EPSG:900913", zoomStop: 21 }]],
  ]);
  expect(leftOut).toEqual([
    'the tileset c: read-only of the tileset c (mapcache.xml:6): expected true or false, got "perhaps"',
    expect.stringMatching(/^the layer a: .*\(mapcache\.xml:4\)$/),
    expect.stringMatching(/^the layer b: without EPSG:4326: .*\(mapcache\.xml:5\)$/),
    expect.stringMatching(/^the layer d: .*RE2.*\(mapcache\.xml:7\)$/),
  ]);
});
