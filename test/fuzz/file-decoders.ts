import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { decodePack, encodePack } from "../../src/http/api/tiles/tile-pack.ts";
import { decodePicture } from "../../src/image/decode.ts";
import { PictureError } from "../../src/image/picture-error.ts";
import { encodePng } from "../../src/image/png-encode.ts";
import { pixelsOf, type Raster } from "../../src/image/raster.ts";
import { machineDisk } from "../../src/lib/file/machine-disk.ts";
import { readZip, writeZip } from "../../src/lib/file/zip.ts";
import { machineClock } from "../../src/lib/time/machine-clock.ts";
import { readBundleTile } from "../../src/source/arcgis/bundles.ts";
import { readTilingScheme } from "../../src/source/arcgis/tiling-scheme.ts";
import { openArchive } from "../../src/source/archive/open-archive.ts";
import { pictureFormat, pictureSide } from "../../src/source/archive/picture-header.ts";
import { SourceError } from "../../src/source/source.ts";
import {
  DATA_START,
  encodeEntry,
  isIntact,
  newRecord,
  readEntry,
  readRecord,
} from "../../src/store/compact/internal/bundle.ts";
import { COMPACT, COMPACT_V2, confXml, WORLD } from "../support/stores/arcgis-fixture.ts";
import { pmtiles, VECTOR_TILE, writeMbtiles } from "../support/stores/archive-fixture.ts";
import type { Decoder } from "./decoder.ts";

const SIDE = 8;

/** A picture of a few pixels. `colours`: how many it has at most. */
function raster(channels: 3 | 4, colours: number): Raster {
  const data = Uint8Array.from({ length: SIDE * SIDE * channels }, (_, i) => ((i * 37) % colours) * 5);
  return { width: SIDE, height: SIDE, channels, data };
}
const WHOLE = { left: 0, top: 0, width: SIDE, height: SIDE };

const png: Decoder = {
  name: "png",
  examples: () => [encodePng(raster(3, 3), WHOLE), encodePng(raster(4, 51), WHOLE)],
  words: ["IHDR", "PLTE", "tRNS", "IDAT", "IEND", "\u0000\u0000\u0000\u0000IEND"],
  refusals: [PictureError],
  async decode(bytes) {
    pictureFormat(bytes);
    const decoded = await decodePicture(bytes, { width: SIDE, height: SIDE });
    const again = await decodePicture(encodePng(decoded, WHOLE), { width: SIDE, height: SIDE });
    const [one, two] = [decoded, again].map((picture) => Buffer.from(pixelsOf(picture)));
    if (decoded.channels === again.channels && !(one ?? Buffer.of()).equals(two ?? Buffer.of()))
      throw new TypeError("png: its pixels came back otherwise");
    return `${decoded.channels} channels, side ${pictureSide(bytes)}`;
  },
};

const pack: Decoder = {
  name: "tile-pack",
  examples: () => [
    encodePack([
      { name: "1/0/1", bytes: Buffer.from("abc") },
      { name: "0/0/0", bytes: Buffer.of(1) },
    ]),
  ],
  words: ['{"tiles":[', '["0/0/0",1]', "\n", "1e999", "-1", '"tiles"'],
  refusals: [],
  decode(bytes) {
    const decoded = decodePack(bytes, 100);
    if (!decoded.ok) return `refused: ${decoded.error}`;
    const again = decodePack(encodePack(decoded.value.tiles), 100);
    if (!again.ok || again.value.tiles.length !== decoded.value.tiles.length)
      throw new TypeError("tile-pack: its tiles came back otherwise");
    return "value";
  },
};

const zip: Decoder = {
  name: "zip",
  examples: () => [
    writeZip([
      { name: "doc.kml", bytes: Buffer.from("<kml/>") },
      { name: "b", bytes: Buffer.alloc(300) },
    ]),
  ],
  words: ["PK\u0001\u0002", "PK\u0003\u0004", "PK\u0005\u0006"],
  refusals: [Error],
  decode: (bytes) => (readZip(bytes, 1_000_000) === undefined ? "no archive" : "value"),
};

/** Decoders of whole files, which they need on a disk: in `directory`. */
export function fileDecoders(directory: string): readonly Decoder[] {
  const written = (name: string, bytes: Uint8Array): string => {
    const path = join(directory, name);
    writeFileSync(path, bytes);
    return path;
  };

  const archive = (type: "pmtiles" | "mbtiles", examples: Decoder["examples"], words: Decoder["words"]): Decoder => ({
    name: type,
    examples,
    words,
    refusals: [SourceError],
    async decode(bytes) {
      await using opened = await openArchive(machineClock, { type, file: written(`a.${type}`, bytes) });
      const { format, minZoom, maxZoom } = await opened.facts();
      const tile = await opened.tile({ z: 1, x: 1, fromTop: 0, fromBottom: 1 });
      return `${format.mimeType} ${maxZoom - minZoom} ${tile === undefined ? "no tile" : "tile"}`;
    },
  });
  const picture = encodePng(raster(3, 3), WHOLE);
  const tiles = [
    { z: 0, x: 0, y: 0, bytes: picture },
    { z: 1, x: 1, y: 0, bytes: picture },
    { z: 1, x: 0, y: 1, bytes: picture },
  ];
  const ofPmtiles = archive(
    "pmtiles",
    () => [
      pmtiles({ type: "png", tiles, compression: "none", metadata: { attribution: "a" } }),
      pmtiles({
        type: "mvt",
        tiles: [{ z: 0, x: 0, y: 0, bytes: VECTOR_TILE }],
        metadata: { vector_layers: [{ id: "a", fields: {} }] },
      }),
      pmtiles({ type: "png", tiles, perLeaf: 1, compression: "brotli" }),
    ],
    ["PMTiles", "\u0003", "{}", "\u00ff\u00ff"],
  );
  const ofMbtiles = archive("mbtiles", () => {
    const path = join(directory, "example.mbtiles");
    writeMbtiles(path, {
      metadata: { name: "a", format: "png", bounds: "-180,-85,180,85", minzoom: "0", maxzoom: "1" },
      tiles,
    });
    return [readFileSync(path)];
  }, ["SQLite format 3\u0000", "CREATE TABLE", "CREATE VIEW tiles AS", "format", "json"]);

  /** Writes a bundle of the bytes: its first entry, then the bytes behind the index. */
  const bundle = (
    path: string,
    bytes: Uint8Array,
    [entryAt, entryBytes, dataAt]: readonly [number, number, number],
  ): void => {
    const file = openSync(path, "w");
    writeSync(file, bytes.subarray(0, entryBytes), 0, Math.min(entryBytes, bytes.length), entryAt);
    writeSync(file, bytes.subarray(entryBytes), 0, Math.max(0, bytes.length - entryBytes), dataAt);
    closeSync(file);
  };
  const record = newRecord(Buffer.from("tile"), { modifiedMs: 1, confirmedMs: 2 }, 0);
  const ofBundle: Decoder = {
    name: "bundle",
    // The entry of the tile in the first row and column, and a record.
    examples: () => [Buffer.concat([encodeEntry(record.entry), record.bytes])],
    words: ["\u0000\u0000\u0000\u0000", "NUTH"],
    refusals: [SourceError],
    async decode(bytes) {
      bundle(join(directory, "R0000C0000.bundle"), bytes, [64, 8, DATA_START]);
      const file = openSync(join(directory, "R0000C0000.bundle"), "r");
      try {
        const entry = readEntry(machineDisk, file, 0);
        const found = entry && readRecord(machineDisk, file, entry, "whole");
        const own = found === undefined ? "none" : isIntact(found) ? "intact" : "damaged";
        const tile = await readBundleTile(directory, { row: 0, column: 0 }, 2);
        return `${own}, ${tile === undefined ? "no tile" : "a tile"}`;
      } finally {
        closeSync(file);
      }
    },
  };
  const ofOldBundle: Decoder = {
    name: "bundle-v1",
    // The entry of the index file, then the bytes of the bundle behind its header: a size and a tile.
    examples: () => [Buffer.concat([Buffer.of(60, 0, 0, 0, 0), Buffer.of(4, 0, 0, 0), Buffer.from("tile")])],
    words: ["\u0000\u0000\u0000\u0000"],
    refusals: [SourceError],
    async decode(bytes) {
      bundle(join(directory, "R0000C0000.bundlx"), bytes.subarray(0, 5), [16, 5, 21]);
      bundle(join(directory, "R0000C0000.bundle"), bytes.subarray(5), [0, 0, 60]);
      const tile = await readBundleTile(directory, { row: 0, column: 0 }, 1);
      return tile === undefined ? "no tile" : "a tile";
    },
  };
  const ofScheme: Decoder = {
    name: "tiling-scheme",
    examples: () => [
      Buffer.from(confXml({ storage: COMPACT })),
      Buffer.from(confXml({ storage: COMPACT_V2, levels: [3] })),
    ],
    words: ["<LODInfo>", "<WKID>0</WKID>", "1e308", "-1", "NaN", "<!DOCTYPE a>", "<TileCols>0</TileCols>"],
    refusals: [],
    async decode(bytes) {
      writeFileSync(join(directory, "conf.cdi"), WORLD);
      const scheme = await readTilingScheme(written("conf.xml", bytes));
      return scheme.ok ? "value" : `refused: ${scheme.error}`;
    },
  };
  return [png, pack, zip, ofPmtiles, ofMbtiles, ofBundle, ofOldBundle, ofScheme];
}
