import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "libsql";
import { afterAll, expect, test } from "vitest";
import { writeMbtiles } from "../../../test/support/stores/archive-fixture.ts";
import { machineClock } from "../../lib/time/machine-clock.ts";
import { gwcTileSetsIn } from "./gwc-tile-sets.ts";
import { type MbtilesFile, openMbtilesFile } from "./mbtiles-file.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-mbtiles-file-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function wordsOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "none",
    (error: unknown) => String(error),
  );
}

async function tilesOf(archive: MbtilesFile): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { z, x, row, bytes } of archive.tiles())
    names.push(`${z}/${x}/${row} ${Buffer.from(bytes ?? []).toString()}`);
  return names;
}

test("an MBTiles gives its format, its count and more tiles than one batch, in order", async () => {
  const file = join(directory, "many.mbtiles");
  const db = new Sqlite(file);
  db.exec(`CREATE TABLE metadata (name TEXT, value TEXT);
    INSERT INTO metadata VALUES ('format', 'png');
    CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB);
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 1499)
    INSERT INTO tiles (zoom_level, tile_column, tile_row, tile_data) SELECT 11, 1499 - i, 2047, CAST('t' || i AS BLOB) FROM n`);
  db.close();
  await using archive = await openMbtilesFile(machineClock, file);
  expect([await archive.format(), await archive.count()]).toEqual(["png", 1500]);
  expect(await tilesOf(archive)).toEqual(Array.from({ length: 1500 }, (_, x) => `11/${x}/2047 t${1499 - x}`));
});

test("a file that is no MBTiles is named, and so is one whose tiles never end", async () => {
  const broken = join(directory, "broken.mbtiles");
  writeFileSync(broken, "no database ".repeat(200));
  expect(await wordsOf(openMbtilesFile(machineClock, broken))).toMatch(
    /broken\.mbtiles is no MBTiles, or is damaged: it is no database$/,
  );
  const endless = join(directory, "endless.mbtiles");
  const db = new Sqlite(endless);
  db.exec(`CREATE VIEW tiles AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n)
    SELECT 0 AS zoom_level, i AS tile_column, 0 AS tile_row, x'00' AS tile_data FROM n`);
  db.close();
  await using archive = await openMbtilesFile(machineClock, endless, 300);
  expect(await wordsOf(archive.count())).toMatch(
    /endless\.mbtiles cannot be read: a query took longer than 0\.3 seconds$/,
  );
});

test("a damaged database of parameters leaves its tile sets out, with the reason", async () => {
  const root = mkdtempSync(join(directory, "gwc-"));
  const layers = [{ name: "a", gridSets: [{ gridSet: "EPSG:900913" }], formats: ["image/png"] }];
  const id = "0".repeat(40);
  writeMbtiles(join(root, "metadata.sqlite"), { metadata: {}, tiles: [] });
  mkdirSync(join(root, "a", `EPSG_900913image_png${id}`), { recursive: true });
  mkdirSync(join(root, "a", "EPSG_900913image_pngnull"));
  const { tileSets, skipped } = await gwcTileSetsIn(machineClock, root, layers);
  expect(tileSets).toMatchObject([{ layer: "a", gridSet: "EPSG:900913", format: "image/png", parameters: {} }]);
  expect(skipped).toMatchObject([{ reason: expect.stringContaining("has no parameters with this id") }]);
});
