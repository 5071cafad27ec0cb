import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createCompactStore } from "../../../src/store/compact/compact-store.ts";
import { gridSetNamed } from "../layer.ts";
import { inDirectory } from "./in-directory.ts";
import { unconditionally } from "./memory-store.ts";

/** A tile of a cache; the row counts from the top. */
export interface CacheTile {
  readonly level: number;
  readonly row: number;
  readonly column: number;
  readonly bytes: Uint8Array;
}

export const EXPLODED = "esriMapCacheStorageModeExploded";
export const COMPACT = "esriMapCacheStorageModeCompact";
export const COMPACT_V2 = "esriMapCacheStorageModeCompactV2";

/** Returns a `conf.xml` of web mercator. `levels`: ArcGIS's numbers; the first one has one tile of the world. */
export function confXml({
  storage,
  format = "PNG32",
  levels = [0, 1, 2, 3, 4, 5, 6, 7, 8],
  more = "",
}: {
  readonly storage: string;
  readonly format?: string;
  readonly levels?: readonly number[];
  /** Further elements of TileCacheInfo. */
  readonly more?: string;
}): string {
  const items = levels.map(
    (level, i) =>
      `<LODInfo xsi:type="typens:LODInfo"><LevelID>${level}</LevelID><Scale>${591657527.591555 / 2 ** i}</Scale><Resolution>${156543.033928 / 2 ** i}</Resolution></LODInfo>`,
  );
  return `<?xml version="1.0" encoding="utf-8"?>
<CacheInfo xsi:type="typens:CacheInfo" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:typens="http://www.esri.com/schemas/ArcGIS/10.1">
<TileCacheInfo xsi:type="typens:TileCacheInfo"><SpatialReference xsi:type="typens:ProjectedCoordinateSystem"><WKID>102100</WKID><LatestWKID>3857</LatestWKID></SpatialReference>
<TileOrigin xsi:type="typens:PointN"><X>-20037508.342787001</X><Y>20037508.342787001</Y></TileOrigin>
<TileCols>256</TileCols><TileRows>256</TileRows><DPI>96</DPI>${more}
<LODInfos xsi:type="typens:ArrayOfLODInfo">${items.join("")}</LODInfos></TileCacheInfo>
<TileImageInfo xsi:type="typens:TileImageInfo"><CacheTileFormat>${format}</CacheTileFormat></TileImageInfo>
<CacheStorageInfo xsi:type="typens:CacheStorageInfo"><StorageFormat>${storage}</StorageFormat><PacketSize>${storage === EXPLODED ? 0 : 128}</PacketSize></CacheStorageInfo>
</CacheInfo>
`;
}

export const confCdi = (minX: number, minY: number, maxX: number, maxY: number): string =>
  `<?xml version="1.0" encoding="utf-8" ?><EnvelopeN xsi:type='typens:EnvelopeN' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'><XMin>${minX}</XMin><YMin>${minY}</YMin><XMax>${maxX}</XMax><YMax>${maxY}</YMax></EnvelopeN>`;

/** The world of web mercator. */
export const WORLD = confCdi(-20037508.342787, -20037508.342787, 20037508.342787, 20037508.342787);

/** Writes a file with its directories. */
export function writeAt(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

const hex = (n: number, digits: number): string => n.toString(16).padStart(digits, "0");
const levelName = (level: number): string => `L${String(level).padStart(2, "0")}`;

/** Writes tiles with a file for each. */
export function writeExploded(root: string, tiles: readonly CacheTile[], extension: string): void {
  for (const { level, row, column, bytes } of tiles)
    writeAt(join(root, levelName(level), `R${hex(row, 8)}`, `C${hex(column, 8)}.${extension}`), bytes);
}

const TILES = 128 * 128;

/** Writes tiles as bundles of version 1. As in ArcGIS, entries without a tile point to a size of 0. */
export function writeCompact(root: string, tiles: readonly CacheTile[]): void {
  const bundles = new Map<string, { readonly index: Buffer; readonly parts: Buffer[]; end: number }>();
  for (const { level, row, column, bytes } of tiles) {
    const [r, c] = [row % 128, column % 128];
    const name = join(root, levelName(level), `R${hex(row - r, 4)}C${hex(column - c, 4)}`);
    let bundle = bundles.get(name);
    if (bundle === undefined) {
      const index = Buffer.alloc(16 + TILES * 5 + 16);
      for (let i = 0; i < TILES; i++) index.writeUIntLE(60 + 4 * i, 16 + 5 * i, 5);
      bundle = { index, parts: [Buffer.alloc(60 + TILES * 4)], end: 60 + TILES * 4 };
      bundles.set(name, bundle);
    }
    bundle.index.writeUIntLE(bundle.end, 16 + 5 * (128 * c + r), 5);
    const size = Buffer.alloc(4);
    size.writeUInt32LE(bytes.byteLength);
    bundle.parts.push(size, Buffer.from(bytes));
    bundle.end += 4 + bytes.byteLength;
  }
  for (const [name, { index, parts }] of bundles) {
    writeAt(`${name}.bundlx`, index);
    writeFileSync(`${name}.bundle`, "");
    for (const part of parts) appendFileSync(`${name}.bundle`, part);
  }
}

/**
 * Writes tiles as bundles of version 2, by a compact store, which describes them in a `conf.xml`. Returns the directory
 * of that file.
 */
export async function writeCompactV2(root: string, tiles: readonly CacheTile[], format = "image/png"): Promise<string> {
  const gridSet = gridSetNamed("EPSG:900913");
  const store = createCompactStore({ ...inDirectory(root), gridSets: () => gridSet });
  const tileSet = { layer: "a", gridSet: gridSet.id, format, parametersId: "" };
  for (const { level: z, row, column: x, bytes } of tiles)
    await store.put({ tileSet, x, y: 2 ** z - 1 - row, z }, bytes, ...unconditionally);
  await store[Symbol.asyncDispose]();
  return join(root, "a", "EPSG_900913", format === "image/png" ? "png" : "jpeg");
}

/** Writes a cache in web mercator, and returns the path of its `conf.xml`. `format`: ArcGIS's word. */
export async function writeCache(
  root: string,
  storage: string,
  tiles: readonly CacheTile[],
  format: "PNG32" | "JPEG" = "PNG32",
): Promise<string> {
  if (storage === COMPACT_V2) {
    const directory = await writeCompactV2(root, tiles, format === "JPEG" ? "image/jpeg" : "image/png");
    return join(directory, "conf.xml");
  }
  const path = join(root, "conf.xml");
  writeAt(path, confXml({ storage, format }));
  writeAt(join(root, "conf.cdi"), WORLD);
  if (storage === COMPACT) writeCompact(join(root, "_alllayers"), tiles);
  else writeExploded(join(root, "_alllayers"), tiles, format === "JPEG" ? "jpg" : "png");
  return path;
}
