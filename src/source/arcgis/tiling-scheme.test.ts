import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { COMPACT, confCdi, confXml, EXPLODED, WORLD, writeAt } from "../../../test/support/stores/arcgis-fixture.ts";
import { topLeftCorner } from "../../grid/grid-set.ts";
import { cacheGridSet, readTilingScheme, SCHEME_LIMIT, type TilingScheme } from "./tiling-scheme.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-tiling-scheme-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
let made = 0;

/** Writes a `conf.xml` with a `conf.cdi` beside it, and reads it. With `cdi` undefined, writes no `conf.cdi`. */
async function reading(xml: string, cdi: string | undefined = WORLD) {
  const path = join(directory, String(made++), "conf.xml");
  writeAt(path, xml);
  if (cdi !== undefined) writeAt(join(path, "..", "conf.cdi"), cdi);
  return readTilingScheme(path);
}
async function scheme(xml: string, cdi?: string): Promise<TilingScheme> {
  const read = await reading(xml, cdi);
  if (!read.ok) throw new Error(read.error);
  return read.value;
}
function gridSet(of: TilingScheme) {
  const created = cacheGridSet(of, "roads");
  if (!created.ok) throw new Error(created.error);
  return created.value;
}

test("the grid set has GeoWebCache's id, its origin at the top left and whole tiles of the finest level", async () => {
  const read = await scheme(
    confXml({ storage: COMPACT, format: "Jpeg" }),
    confCdi(-10_000_000, 0, -9_000_000, 1_000_000),
  );
  expect(read).toMatchObject({ storage: COMPACT, tileFormat: "jpeg", levels: [0, 1, 2, 3, 4, 5, 6, 7, 8] });
  const grid = gridSet(read);
  expect(grid).toMatchObject({ id: "EPSG:102100_roads", srs: 3857, alignTopLeft: true, metersPerUnit: 1 });
  expect(topLeftCorner(grid, 8)).toEqual({ x: -20037508.342787001, y: 20037508.342787001 });
  const tile = (256 * 156543.033928) / 2 ** 8;
  expect(grid.extent.maxX).toBeCloseTo(-20037508.342787 + 71 * tile, 6);
  expect(grid.extent.minY).toBeCloseTo(20037508.342787 - 128 * tile, 6);
  expect(grid.matrices[8]).toMatchObject({ name: "EPSG:102100_roads:8", matrixWidth: 71, matrixHeight: 128 });
  expect(grid.matrices[0]?.scaleDenominator).toBeCloseTo(559082264.0286, 3);
});

test("the units of the CRS follow from scale and DPI", async () => {
  const unitOf = async (change: (xml: string) => string): Promise<number> =>
    gridSet(await scheme(change(confXml({ storage: EXPLODED })))).metersPerUnit;
  expect(await unitOf((xml) => xml)).toBe(1);
  expect(await unitOf((xml) => xml.replace("<DPI>96</DPI>", ""))).toBe(1);
  const feet = await unitOf((xml) => xml.replaceAll(/<Scale>([\d.]+)/g, (_, scale) => `<Scale>${scale * 0.3048}`));
  expect(feet).toBeCloseTo(0.3048, 5);
  // ArcGIS's degree assumes a sphere of a different radius.
  expect(
    await unitOf((xml) => xml.replaceAll(/<Scale>([\d.]+)/g, (_, scale) => `<Scale>${scale * 111194}`)),
  ).toBeCloseTo(111319.49, 2);
});

test("a cache without conf.cdi has the area up to TileEnd, as other programs write it", async () => {
  const path = join(directory, "end", "conf.xml");
  writeAt(path, confXml({ storage: EXPLODED, more: "<TileEnd><X>0</X><Y>1000</Y></TileEnd>" }));
  expect(await readTilingScheme(path)).toMatchObject({ ok: true, value: { bounds: { maxX: 0, minY: 1000 } } });
  writeAt(path, confXml({ storage: EXPLODED }));
  expect(await readTilingScheme(path)).toEqual({
    ok: false,
    error: "conf.cdi beside it: there is no such file or directory",
  });
});

test.each([
  ["<html>", "this is no XML (line 1)"],
  ["<html/>", "expected the root CacheInfo"],
  ["<CacheInfo/>", 'CacheTileFormat: expected PNG, PNG8, PNG24, PNG32, JPEG or MIXED, got ""'],
  [
    confXml({ storage: "esriMapCacheStorageModeNew" }),
    "StorageFormat: expected one of esriMapCacheStorageModeExploded, ",
  ],
  [confXml({ storage: COMPACT }).replace(">128<", ">64<"), 'PacketSize: expected 128, got "64"'],
  [
    confXml({ storage: COMPACT, format: "LERC" }),
    'CacheTileFormat: expected PNG, PNG8, PNG24, PNG32, JPEG or MIXED, got "LERC"',
  ],
  [confXml({ storage: COMPACT }).replaceAll("TileCacheInfo", "Other"), "expected TileCacheInfo in CacheInfo, got none"],
  [confXml({ storage: COMPACT }).replace("<WKID>102100</WKID>", ""), "SpatialReference: expected a WKID, got none"],
  [confXml({ storage: COMPACT }).replace("<X>-20037508", "<X>-20037508,"), "TileOrigin: expected the numbers X and Y"],
  [
    confXml({ storage: COMPACT }).replace("<TileCols>256", "<TileCols>99999"),
    "TileCols, TileRows: expected whole numbers",
  ],
  [confXml({ storage: COMPACT, levels: [] }), "LODInfos: expected levels, each with a LevelID from 0 to 99"],
  [confXml({ storage: COMPACT, levels: [0.5] }), "LODInfos: expected levels, each with a LevelID from 0 to 99"],
  [`<a>${" ".repeat(SCHEME_LIMIT)}</a>`, "it is larger than 1048576 bytes"],
])("a conf.xml that is none is refused: %#", async (xml, error) => {
  expect(await reading(xml)).toEqual({ ok: false, error: expect.stringContaining(error) });
});

test.each([
  ["no XML", "conf.cdi beside it: this is no XML (line 1)"],
  ["<EnvelopeN/>", "conf.cdi beside it: expected an extent with XMin < XMax and YMin < YMax"],
  [confCdi(1, 0, 0, 1), "conf.cdi beside it: expected an extent with XMin < XMax and YMin < YMax"],
])("a conf.cdi that is none is refused: %#", async (cdi, error) => {
  expect(await reading(confXml({ storage: COMPACT }), cdi)).toEqual({
    ok: false,
    error: expect.stringContaining(error),
  });
});

test("levels that make no pyramid are refused by the grid set", async () => {
  const doubled = confXml({ storage: COMPACT, levels: [0] }).replace(/(<LODInfo .*<\/LODInfo>)/, "$1$1");
  expect(cacheGridSet(await scheme(doubled), "a")).toMatchObject({ ok: false });
  expect(
    cacheGridSet(await scheme(confXml({ storage: COMPACT }).replaceAll("<Resolution>", "<Resolution>x")), "a").ok,
  ).toBe(false);
});

test("a path that leads to no file is refused", async () => {
  expect(await readTilingScheme(join(directory, "none.xml"))).toMatchObject({ ok: false });
  expect(await readTilingScheme(directory)).toEqual({ ok: false, error: "it is no file" });
});
