import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import Sqlite from "libsql";
import sharp from "sharp";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { formatNamed } from "../../../test/support/layer.ts";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import {
  directory,
  type FixtureTile,
  pmtiles,
  VECTOR_TILE,
  writeMbtiles,
  writePmtiles,
} from "../../../test/support/stores/archive-fixture.ts";
import type { ArchiveSourceOptions } from "../../layer/source-options.ts";
import { machineClock } from "../../lib/time/machine-clock.ts";
import { tileRequest } from "../source.conformance.ts";
import { type Source, SourceError } from "../source.ts";
import { ARCHIVE_READ_LIMIT } from "./archive.ts";
import { createArchiveSource } from "./archive-source.ts";
import { inspectArchive } from "./open-archive.ts";

const root = mkdtempSync(join(tmpdir(), "nuthatch-archives-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const open: Source[] = [];
afterEach(async () => {
  for (const source of open.splice(0)) await source[Symbol.asyncDispose]();
});

type Kind = ArchiveSourceOptions["type"];
let files = 0;
const fileFor = (kind: Kind): string => join(root, `a b#${++files}?ä%20.${kind}`);

function sourceOf(type: Kind, file: string): Source {
  const source = createArchiveSource({ type, file, connections: 2, stamp: "" }, { clock: machineClock });
  open.push(source);
  return source;
}
const never = (): AbortSignal => new AbortController().signal;
const vectorAt = (x: number, y: number, z: number) =>
  tileRequest("EPSG:900913", [x, y, z], { format: formatNamed("application/vnd.mapbox-vector-tile") });

async function bytesAt(source: Source, x: number, y: number, z: number): Promise<string> {
  const rendering = await source.render(vectorAt(x, y, z), never());
  if (rendering.kind !== "data") throw new Error(rendering.kind);
  return Buffer.from(rendering.bytes).toString("latin1");
}
async function failureAt(source: Source, x: number, y: number, z: number): Promise<string> {
  const failure: unknown = await source.render(vectorAt(x, y, z), never()).then(
    () => "drawn",
    (error: unknown) => error,
  );
  return failure instanceof SourceError ? `${failure.failure}: ${failure.message}` : String(failure);
}

/** A vector tile that contains its address; y from the top. */
const named = (z: number, x: number, y: number): FixtureTile => ({
  z,
  x,
  y,
  bytes: Buffer.concat([VECTOR_TILE, Buffer.from(`${z}/${x}/${y}`)]),
});
const TILES = [named(0, 0, 0), ...[0, 1, 2, 3].flatMap((x) => [0, 1, 3].map((y) => named(2, x, y)))];
const VECTOR_LAYERS = [{ id: "a", fields: { name: "String" }, minzoom: 0, maxzoom: 2 }];

const kinds: Readonly<Record<Kind, (tiles?: readonly FixtureTile[]) => string>> = {
  mbtiles(tiles = TILES) {
    const file = fileFor("mbtiles");
    writeMbtiles(file, {
      metadata: {
        format: "pbf",
        bounds: "-10,-20,30,40",
        minzoom: "0",
        maxzoom: "2",
        json: JSON.stringify({ vector_layers: VECTOR_LAYERS }),
      },
      // Compressed, as nearly all vector tiles in MBTiles are.
      tiles: tiles.map((tile) => ({ ...tile, bytes: gzipSync(tile.bytes) })),
    });
    return file;
  },
  pmtiles(tiles = TILES) {
    const file = fileFor("pmtiles");
    writePmtiles(file, {
      type: "mvt",
      tiles,
      bounds: [-10, -20, 30, 40],
      metadata: { vector_layers: VECTOR_LAYERS },
      perLeaf: 4,
    });
    return file;
  },
};

describe.each(["mbtiles", "pmtiles"] as const)("an archive of type %s", (kind) => {
  test("gives each tile under its own number, rows turned right, unpacked", async () => {
    const source = sourceOf(kind, kinds[kind]());
    expect(await bytesAt(source, 0, 0, 0)).toContain("0/0/0");
    for (const x of [0, 1, 2, 3])
      for (const fromTop of [0, 1, 3])
        expect(await bytesAt(source, x, 3 - fromTop, 2)).toBe(`${VECTOR_TILE.toString("latin1")}2/${x}/${fromTop}`);
  });

  test("has no tile where there is none, beyond its levels too, and that is no picture", async () => {
    const source = sourceOf(kind, kinds[kind]());
    expect(await failureAt(source, 1, 1, 2)).toBe("no_tile: the archive has no tile 2/1/2");
    expect(await failureAt(source, 1, 1, 1)).toBe("no_tile: the archive has no tile 1/1/0");
    expect(await failureAt(source, 0, 0, 30)).toBe("no_tile: the archive has no tile 30/0/1073741823");
  });

  test("says what it holds", async () => {
    expect(await inspectArchive(machineClock, { type: kind, file: kinds[kind]() })).toMatchObject({
      ok: true,
      value: {
        facts: {
          format: { mimeType: "application/vnd.mapbox-vector-tile" },
          minZoom: 0,
          maxZoom: 2,
          bounds: { minX: -10, minY: -20, maxX: 30, maxY: 40 },
          vectorLayers: VECTOR_LAYERS,
        },
      },
    });
  });

  test("does not render more than one tile", async () => {
    const { tile: _, ...metatile } = vectorAt(0, 0, 0);
    await expect(sourceOf(kind, kinds[kind]()).render(metatile, never())).rejects.toThrow("only has single tiles");
  });

  test("that is missing is an outage, is not made, and is read once it is there", async () => {
    const file = fileFor(kind);
    const source = sourceOf(kind, file);
    expect(await failureAt(source, 0, 0, 0)).toBe("refused: the archive cannot be read: there is no such file");
    expect(existsSync(file)).toBe(false);
    renameSync(kinds[kind](), file);
    expect(await bytesAt(source, 0, 0, 0)).toContain("0/0/0");
  });

  test("that was replaced is opened anew, when it has not been written to for some time", async () => {
    const file = kinds[kind]();
    const clock = new ManualClock();
    const source = createArchiveSource({ type: kind, file, connections: 2, stamp: "" }, { clock });
    open.push(source);
    expect(await bytesAt(source, 0, 0, 0)).toContain("0/0/0");
    renameSync(kinds[kind]([{ ...named(0, 0, 0), bytes: named(2, 3, 3).bytes }]), file);
    for (const seen of ["0/0/0", "2/3/3"]) {
      expect(await bytesAt(source, 0, 0, 0)).toContain(seen);
      clock.pass(1_000);
    }
  });

  test("that is a directory, empty, or another kind of file is reported as such, without its path", async () => {
    const folder = fileFor(kind);
    mkdirSync(folder);
    expect(await failureAt(sourceOf(kind, folder), 0, 0, 0)).toBe("refused: the archive cannot be read: it is no file");
    for (const content of ["", "this is no archive at all, ".repeat(1000)]) {
      const file = fileFor(kind);
      writeFileSync(file, content);
      const failure = await failureAt(sourceOf(kind, file), 0, 0, 0);
      expect(failure).toMatch(/^wrong_type: the archive is damaged: /);
      expect(failure).not.toContain(root);
      expect(await inspectArchive(machineClock, { type: kind, file })).toMatchObject({ ok: false });
    }
  });
});

test.each(["mbtiles", "pmtiles"] as const)(
  "whatever is wrong in an archive of type %s is a failure of the source",
  async (kind) => {
    const whole = readFileSync(kinds[kind]());
    const place = fc.nat({ max: whole.length - 1 });
    // Wrong values in the header have the greatest effect.
    const change = fc.tuple(fc.oneof(place, fc.nat({ max: 200 })), fc.nat({ max: 255 }));
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 8 }), async (changes) => {
        const bytes = Buffer.from(whole);
        for (const [at, value] of changes) bytes.writeUInt8(value, at);
        const file = fileFor(kind);
        writeFileSync(file, bytes);
        const source = createArchiveSource({ type: kind, file, connections: 1, stamp: "" }, { clock: machineClock });
        for (const [x, y, z] of [
          [0, 0, 0],
          [3, 3, 2],
        ] as const) {
          const rendered: unknown = await source.render(vectorAt(x, y, z), never()).catch((error: unknown) => error);
          if (rendered instanceof Error) expect(rendered).toBeInstanceOf(SourceError);
        }
        const report = await inspectArchive(machineClock, { type: kind, file });
        expect(typeof report.ok).toBe("boolean");
        await source[Symbol.asyncDispose]();
        rmSync(file);
      }),
      { numRuns: 50 },
    );
  },
);

describe("MBTiles", () => {
  const inspected = async (metadata: Readonly<Record<string, string>>, tiles: readonly FixtureTile[] = TILES) => {
    const file = fileFor("mbtiles");
    writeMbtiles(file, { metadata, tiles });
    const report = await inspectArchive(machineClock, { type: "mbtiles", file });
    return report.ok ? report.value.facts : report.error;
  };

  test("are never written to", async () => {
    const file = kinds.mbtiles();
    await bytesAt(sourceOf("mbtiles", file), 0, 0, 0);
    expect([existsSync(`${file}-wal`), existsSync(`${file}-journal`)]).toEqual([false, false]);
  });

  test.each([
    ["png", "image/png"],
    ["jpg", "image/jpeg"],
    ["JPEG", "image/jpeg"],
    ["webp", "image/webp"],
    ["pbf", "application/vnd.mapbox-vector-tile"],
    ["mvt", "application/vnd.mapbox-vector-tile"],
    ["application/x-protobuf", "application/vnd.mapbox-vector-tile"],
  ])("of format %s have %s", async (format, mimeType) => {
    expect(await inspected({ format })).toMatchObject({ format: { mimeType } });
  });

  test.each([
    ["PNG8", "image/png"],
    [" Png ", "image/png"],
    ["hybrid", "image/vnd.jpeg-png"],
    ["IMAGE/WEBP", "image/webp"],
  ])("of format %s, as some programs spell it, have %s", async (format, mimeType) => {
    expect(await inspected({ format })).toMatchObject({ format: { mimeType } });
  });

  test("without a format have that of their first tile", async () => {
    const at = (bytes: Buffer) => [{ z: 0, x: 0, y: 0, bytes }];
    const png = await sharp({ create: { width: 512, height: 512, channels: 3, background: "red" } })
      .png()
      .toBuffer();
    const jpeg = await sharp(png).jpeg().toBuffer();
    const webp = await sharp(png).webp().toBuffer();
    expect(await inspected({ name: "a" }, at(png))).toMatchObject({ format: { mimeType: "image/png" }, tileSize: 512 });
    expect(await inspected({}, at(jpeg))).toMatchObject({ format: { mimeType: "image/jpeg" }, tileSize: 512 });
    expect(await inspected({}, at(webp))).toMatchObject({ format: { mimeType: "image/webp" }, tileSize: 512 });
    for (const bytes of [VECTOR_TILE, gzipSync(VECTOR_TILE), deflateSync(VECTOR_TILE)])
      expect(await inspected({}, at(bytes))).toMatchObject({
        format: { mimeType: "application/vnd.mapbox-vector-tile" },
        tileSize: undefined,
      });
  });

  test("with columns of type TEXT, and tiles that are packed by zlib, are read", async () => {
    const file = fileFor("mbtiles");
    const db = new Sqlite(file);
    db.exec(`CREATE TABLE metadata (name text, value text); INSERT INTO metadata VALUES ('format', 'pbf');
      CREATE TABLE tiles (zoom_level TEXT, tile_column TEXT, tile_row TEXT, tile_data BLOB)`);
    const insert = db.prepare("INSERT INTO tiles VALUES (?, ?, ?, ?)");
    insert.run(["2", "1", "3", deflateSync(VECTOR_TILE)]);
    insert.run(["10", "0", "0", VECTOR_TILE]);
    db.close();
    expect(await bytesAt(sourceOf("mbtiles", file), 1, 3, 2)).toBe(VECTOR_TILE.toString("latin1"));
    expect(await inspectArchive(machineClock, { type: "mbtiles", file })).toMatchObject({
      value: { facts: { minZoom: 2, maxZoom: 10 } },
    });
  });

  test("have an attribution", async () => {
    expect(await inspected({ format: "pbf", attribution: " © <b>A</b>\n" })).toMatchObject({
      attribution: "© <b>A</b>",
    });
    expect(await inspected({ format: "pbf", attribution: " " })).not.toHaveProperty("attribution");
  });

  test("whose tiles never end are refused in time, and others are read meanwhile", { timeout: 90_000 }, async () => {
    const endless = fileFor("mbtiles");
    const db = new Sqlite(endless);
    db.exec(`CREATE TABLE metadata (name text, value text); INSERT INTO metadata VALUES ('format', 'pbf');
      CREATE VIEW tiles AS WITH RECURSIVE r(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r)
      SELECT n AS zoom_level, n AS tile_column, n AS tile_row, x'' AS tile_data FROM r`);
    db.close();
    const source = sourceOf("mbtiles", kinds.mbtiles());
    expect(await bytesAt(source, 0, 0, 0)).toContain("0/0/0");
    const [inspection, other] = await Promise.all([
      inspectArchive(machineClock, { type: "mbtiles", file: endless }),
      bytesAt(source, 0, 0, 0),
    ]);
    expect(inspection).toEqual({
      ok: false,
      error: "the archive cannot be read: a query took longer than 15 seconds",
    });
    expect(other).toContain("0/0/0");
    // The next attempt fails at once.
    expect(await failureAt(sourceOf("mbtiles", endless), 0, 0, 0)).toMatch(/^timeout: /);
    expect(await bytesAt(source, 0, 0, 0)).toContain("0/0/0");
  });

  test("before 1.3 say their levels by their tiles", async () => {
    expect(await inspected({ format: "png", minzoom: "x", maxzoom: "9" })).toMatchObject({ minZoom: 0, maxZoom: 2 });
  });

  test("with bounds and layers that cannot be meant have none", async () => {
    expect(await inspected({ format: "pbf", bounds: "10,0,-10,5", json: "{" })).toMatchObject({
      bounds: undefined,
      vectorLayers: undefined,
    });
    expect(await inspected({ format: "pbf", bounds: "1,2", json: '{"vector_layers":[{"id":1},7]}' })).toMatchObject({
      bounds: undefined,
      vectorLayers: undefined,
    });
  });

  test("whose texts are no UTF-8 are read all the same", async () => {
    const file = fileFor("mbtiles");
    writeMbtiles(file, { metadata: { format: "pbf", name: "x" }, tiles: TILES });
    const db = new Sqlite(file);
    db.exec(`UPDATE images SET tile_data = CAST(x'1aff' AS TEXT) WHERE tile_id = '0/0/0';
      INSERT INTO metadata VALUES ('bounds', CAST(x'ff' AS TEXT)), (CAST(x'ff' AS TEXT), 'x')`);
    db.close();
    expect(await bytesAt(sourceOf("mbtiles", file), 0, 0, 0)).toBe("\x1a\xff");
    expect(await inspectArchive(machineClock, { type: "mbtiles", file })).toMatchObject({ ok: true });
    const other = new Sqlite(file);
    other.exec("UPDATE metadata SET value = CAST(x'ffff' AS TEXT) WHERE name = 'format'");
    other.close();
    expect(await inspectArchive(machineClock, { type: "mbtiles", file })).toMatchObject({ ok: false });
  });

  test("without a format, with an unknown one, or without a tile are of no use", async () => {
    expect(await inspected({}, [{ z: 0, x: 0, y: 0, bytes: Buffer.from("plain text") }])).toBe(
      "the archive is damaged: its metadata names no format, and its tiles are neither pictures nor vector tiles that are known",
    );
    expect(await inspected({ minzoom: "0", maxzoom: "2" }, [])).toBe(
      "the archive is damaged: its metadata names no format, and it has no tile that shows one",
    );
    expect(await inspected({ format: "xyz" })).toBe(
      'the archive is damaged: its metadata names a format that is not known, "xyz"',
    );
    expect(await inspected({ format: "png" }, [])).toBe("the archive is damaged: it holds no tile");
  });

  test("may have any bytes as a tile: tiles that are far too long are not read, and a text is no vector tile", async () => {
    const file = fileFor("mbtiles");
    writeMbtiles(file, { metadata: { format: "pbf" }, tiles: [] });
    const db = new Sqlite(file);
    db.exec(`INSERT INTO map VALUES (1, 0, 0, 'long'), (1, 1, 0, 'text'), (1, 0, 1, 'null'), (1, 1, 1, 'none');
      INSERT INTO images VALUES (zeroblob(${ARCHIVE_READ_LIMIT + 1}), 'long'), ('text', 'text'), (NULL, 'null'), (x'', 'none')`);
    db.close();
    const source = sourceOf("mbtiles", file);
    expect(await failureAt(source, 0, 0, 1)).toBe(`too_large: the tile is larger than ${ARCHIVE_READ_LIMIT} bytes`);
    expect(await failureAt(source, 1, 0, 1)).toBe("wrong_type: the answer is no vector tile");
    expect(await failureAt(source, 0, 1, 1)).toBe("no_tile: the archive has no tile 1/0/0");
    expect(await failureAt(source, 1, 1, 1)).toBe("no_tile: the archive has no tile 1/1/0");
  });
});

describe("PMTiles", () => {
  const written = (bytes: Uint8Array): string => {
    const file = fileFor("pmtiles");
    writeFileSync(file, bytes);
    return file;
  };
  const inspected = async (bytes: Uint8Array) => {
    const report = await inspectArchive(machineClock, { type: "pmtiles", file: written(bytes) });
    return report.ok ? report.value.facts : report.error;
  };
  const changed = (change: (bytes: Buffer) => void): Buffer => {
    const bytes = pmtiles({ type: "mvt", tiles: TILES, perLeaf: 4 });
    change(bytes);
    return bytes;
  };

  test.each(["none", "gzip", "brotli"] as const)("packed as %s are read", async (compression) => {
    const source = sourceOf("pmtiles", written(pmtiles({ type: "mvt", tiles: TILES, compression })));
    expect(await bytesAt(source, 3, 0, 2)).toContain("2/3/3");
  });

  test.each([
    ["png", "image/png"],
    ["jpeg", "image/jpeg"],
    ["webp", "image/webp"],
    ["avif", "image/avif"],
  ] as const)("of type %s have %s, and no vector layers", async (type, mimeType) => {
    const metadata = { vector_layers: VECTOR_LAYERS };
    expect(await inspected(pmtiles({ type, tiles: TILES, metadata }))).toMatchObject({
      format: { mimeType },
      vectorLayers: undefined,
    });
  });

  test("of another version, type or compression are of no use", async () => {
    expect(await inspected(changed((bytes) => bytes.writeUInt8(2, 7)))).toBe(
      "the archive is damaged: it is of version 2, not 3",
    );
    expect(await inspected(pmtiles({ type: "mlt", tiles: TILES }))).toBe(
      "the archive is damaged: its header names a type of tiles that is not known, 6",
    );
    expect(await inspected(changed((bytes) => bytes.writeUInt8(4, 98)))).toBe(
      "the archive is damaged: the compression of its tiles is unknown",
    );
    expect(await inspected(changed((bytes) => bytes.writeUInt8(4, 97)))).toMatch("its compression is unknown");
  });

  test("that are cut off fail where their end is missing", async () => {
    const whole = pmtiles({ type: "mvt", tiles: TILES, perLeaf: 4 });
    for (let length = 0; length < whole.length; length += 13)
      expect(await failureAt(sourceOf("pmtiles", written(whole.subarray(0, length))), 3, 3, 2)).toMatch(
        /^wrong_type: the archive is damaged: /,
      );
  });

  test("whose header or directories lie read nothing outside, and nothing endless", async () => {
    const at = async (place: number, value: bigint) =>
      failureAt(sourceOf("pmtiles", written(changed((bytes) => bytes.writeBigUInt64LE(value, place)))), 0, 0, 0);
    const huge = 2n ** 63n;
    for (const place of [8, 40, 56]) expect(await at(place, huge)).toMatch(/^wrong_type: the archive is damaged: /);
    const lying = (entry: Parameters<typeof directory>[0][number]): string => {
      const bytes = pmtiles({ type: "mvt", tiles: [named(0, 0, 0)], compression: "none" });
      const root = directory([entry]);
      bytes.writeBigUInt64LE(BigInt(bytes.length), 8);
      bytes.writeBigUInt64LE(BigInt(root.length), 16);
      return written(Buffer.concat([bytes, root]));
    };
    const failures = [
      { id: 0, offset: 0, length: 2 ** 40, run: 1 },
      { id: 0, offset: 2 ** 52, length: 10, run: 1 },
      { id: 0, offset: -1, length: 10, run: 0 },
      { id: 0, offset: 0, length: 7, run: 0 },
    ].map((entry) => failureAt(sourceOf("pmtiles", lying(entry)), 0, 0, 0));
    expect((await Promise.all(failures)).map((failure) => failure.split(":")[0])).toEqual([
      "too_large",
      "wrong_type",
      "wrong_type",
      "wrong_type",
    ]);
  });

  test("whose directory has fewer entries than it says is damaged, and no memory is taken for them", async () => {
    const bytes = pmtiles({ type: "mvt", tiles: [named(0, 0, 0)], compression: "none" });
    // 2^28 entries in four bytes.
    const root = Buffer.from([0x80, 0x80, 0x80, 0x80, 0x01]);
    bytes.writeBigUInt64LE(BigInt(bytes.length), 8);
    bytes.writeBigUInt64LE(BigInt(root.length), 16);
    const file = written(Buffer.concat([bytes, root]));
    expect(await failureAt(sourceOf("pmtiles", file), 0, 0, 0)).toBe(
      "wrong_type: the archive is damaged: a directory has fewer entries than it says",
    );
  });

  test("say the side of their pictures, and their attribution", async () => {
    const png = await sharp({ create: { width: 512, height: 512, channels: 3, background: "red" } })
      .png()
      .toBuffer();
    const facts = await inspected(
      pmtiles({
        type: "png",
        tiles: [{ z: 3, x: 4, y: 4, bytes: png }],
        metadata: { attribution: "© A" },
        bounds: [0, -40, 40, 0],
      }),
    );
    expect(facts).toMatchObject({ tileSize: 512, attribution: "© A" });
  });

  test("that unpack to far more than they are, are not unpacked", async () => {
    const bomb = gzipSync(Buffer.alloc(ARCHIVE_READ_LIMIT + 1, 0x1a));
    const tile = pmtiles({ type: "mvt", tiles: [{ z: 0, x: 0, y: 0, bytes: bomb }], compression: "none" });
    expect(await failureAt(sourceOf("pmtiles", written(tile)), 0, 0, 0)).toMatch(/^too_large: /);
    const twice = pmtiles({ type: "mvt", tiles: [{ z: 0, x: 0, y: 0, bytes: Buffer.alloc(ARCHIVE_READ_LIMIT + 1) }] });
    expect(await failureAt(sourceOf("pmtiles", written(twice)), 0, 0, 0)).toMatch(/^too_large: /);
    const packed = gzipSync(Buffer.alloc(5_000_000, 1));
    const root = changed(() => undefined);
    root.writeBigUInt64LE(BigInt(root.length), 8);
    root.writeBigUInt64LE(BigInt(packed.length), 16);
    expect(await failureAt(sourceOf("pmtiles", written(Buffer.concat([root, packed]))), 0, 0, 0)).toMatch(
      /^too_large: /,
    );
  });
});
