import { writeFileSync } from "node:fs";
import { brotliCompressSync, gzipSync } from "node:zlib";
import Sqlite from "libsql";
import { zxyToTileId } from "pmtiles";

/** A tile for a test: y from the top. */
export interface FixtureTile {
  readonly z: number;
  readonly x: number;
  readonly y: number;
  readonly bytes: Uint8Array;
}

/** A tile of one layer without features (Mapbox Vector Tile 2.1, 4.1): name "a", version 2. */
export const VECTOR_TILE = Buffer.from([0x1a, 0x05, 0x0a, 0x01, 0x61, 0x78, 0x02]);

/** An MBTiles as tippecanoe and mb-util make them: `map` and `images` behind a view. */
export function writeMbtiles(
  file: string,
  { metadata, tiles }: { readonly metadata: Readonly<Record<string, string>>; readonly tiles: readonly FixtureTile[] },
): void {
  const db = new Sqlite(file);
  db.exec(`CREATE TABLE metadata (name text, value text);
    CREATE TABLE map (zoom_level integer, tile_column integer, tile_row integer, tile_id text);
    CREATE TABLE images (tile_data blob, tile_id text);
    CREATE UNIQUE INDEX map_index ON map (zoom_level, tile_column, tile_row);
    CREATE UNIQUE INDEX images_id ON images (tile_id);
    CREATE VIEW tiles AS SELECT zoom_level, tile_column, tile_row, tile_data
      FROM map JOIN images ON images.tile_id = map.tile_id`);
  const put = db.prepare("INSERT INTO metadata VALUES (?, ?)");
  for (const [name, value] of Object.entries(metadata)) put.run([name, value]);
  for (const { z, x, y, bytes } of tiles) {
    const id = `${z}/${x}/${y}`;
    db.prepare("INSERT INTO map VALUES (?, ?, ?, ?)").run([z, x, 2 ** z - 1 - y, id]);
    db.prepare("INSERT INTO images VALUES (?, ?)").run([Buffer.from(bytes), id]);
  }
  db.close();
}

const COMPRESSIONS = {
  none: [1, (bytes: Uint8Array) => bytes],
  gzip: [2, (bytes: Uint8Array) => gzipSync(bytes)],
  brotli: [3, (bytes: Uint8Array) => brotliCompressSync(bytes)],
} as const;
const TYPES = { mvt: 1, png: 2, jpeg: 3, webp: 4, avif: 5, mlt: 6 } as const;

interface PmtilesFixture {
  readonly type: keyof typeof TYPES;
  readonly tiles: readonly FixtureTile[];
  readonly metadata?: unknown;
  /** West, south, east, north. */
  readonly bounds?: readonly [number, number, number, number];
  readonly compression?: keyof typeof COMPRESSIONS;
  /** Tiles per leaf directory; absent: all in the root. */
  readonly perLeaf?: number;
}

/** An archive by the PMTiles specification, version 3: header, root directory, metadata, leaves, tiles. */
export function pmtiles(fixture: PmtilesFixture): Buffer {
  const [code, pack] = COMPRESSIONS[fixture.compression ?? "gzip"];
  const sorted = fixture.tiles
    .map((tile) => ({ id: zxyToTileId(tile.z, tile.x, tile.y), bytes: pack(tile.bytes) }))
    .sort((a, b) => a.id - b.id);
  let at = 0;
  const entries: Entry[] = sorted.map(({ id, bytes }) => {
    const entry = { id, offset: at, length: bytes.byteLength, run: 1 };
    at += bytes.byteLength;
    return entry;
  });
  const leaves: Uint8Array[] = [];
  let root = entries;
  if (fixture.perLeaf !== undefined) {
    root = [];
    for (let i = 0; i < entries.length; i += fixture.perLeaf) {
      const leaf = pack(directory(entries.slice(i, i + fixture.perLeaf)));
      const offset = leaves.reduce((sum, { byteLength }) => sum + byteLength, 0);
      root.push({ id: entries[i]?.id ?? 0, offset, length: leaf.byteLength, run: 0 });
      leaves.push(leaf);
    }
  }
  const parts = [
    pack(directory(root)),
    pack(Buffer.from(JSON.stringify(fixture.metadata ?? {}))),
    Buffer.concat(leaves),
    Buffer.concat(sorted.map(({ bytes }) => bytes)),
  ];
  const header = Buffer.alloc(127);
  header.write("PMTiles", "latin1");
  header.writeUInt8(3, 7);
  let offset = header.length;
  for (const [i, part] of parts.entries()) {
    header.writeBigUInt64LE(BigInt(offset), 8 + i * 16);
    header.writeBigUInt64LE(BigInt(part.byteLength), 16 + i * 16);
    offset += part.byteLength;
  }
  for (const place of [72, 80, 88]) header.writeBigUInt64LE(BigInt(entries.length), place);
  header.writeUInt8(1, 96);
  header.writeUInt8(code, 97);
  header.writeUInt8(code, 98);
  header.writeUInt8(TYPES[fixture.type], 99);
  const levels = fixture.tiles.map(({ z }) => z);
  header.writeUInt8(Math.min(...levels), 100);
  header.writeUInt8(Math.max(...levels), 101);
  for (const [i, degrees] of (fixture.bounds ?? [-180, -85.0511287, 180, 85.0511287]).entries())
    header.writeInt32LE(Math.round(degrees * 1e7), 102 + i * 4);
  return Buffer.concat([header, ...parts]);
}

export const writePmtiles = (file: string, fixture: PmtilesFixture): void => writeFileSync(file, pmtiles(fixture));

interface Entry {
  readonly id: number;
  readonly offset: number;
  readonly length: number;
  readonly run: number;
}

/** Section 4 of the specification: five columns of numbers, ids as differences. */
export function directory(entries: readonly Entry[]): Buffer {
  return Buffer.concat(
    [
      entries.length,
      ...entries.map(({ id }, i) => id - (entries[i - 1]?.id ?? 0)),
      ...entries.map(({ run }) => run),
      ...entries.map(({ length }) => length),
      ...entries.map(({ offset }) => offset + 1),
    ].map(varint),
  );
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) + 128);
  return Buffer.from([...bytes, left]);
}
