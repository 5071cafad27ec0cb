import { join } from "node:path";
import { asZoom, canonicalSrs, type GridSet, type Zoom } from "../../../grid/grid-set.ts";
import { formatOf } from "../../../layer/format.ts";
import type { TileSet } from "../../../layer/tile-set.ts";
import { type CompactPaths, ROWS_FILE } from "./compact-paths.ts";

/** ArcGIS's description of a cache, which GDAL's driver ESRIC opens. */
export const DESCRIPTION = "conf.xml";
/** GDAL does not open a raster with more pixels on a side. */
const MOST_PIXELS = 2 ** 31 - 1;

/** Writes the number of rows of a level, and the description of the tile set's cache, unless they exist. */
export function describeLevel(
  paths: CompactPaths,
  tileSet: TileSet,
  { path, rows }: { readonly path: string; readonly rows: number },
): void {
  const rowsFile = join(path, ROWS_FILE);
  if (!paths.disk.existsSync(rowsFile)) paths.writeWhole(rowsFile, String(rows), "utf8");
  const file = join(paths.formatPath(tileSet), DESCRIPTION);
  const gridSet = paths.gridSets(tileSet.gridSet);
  if (gridSet === undefined || paths.disk.existsSync(file)) return;
  paths.writeWhole(file, cacheDescription(gridSet, tileSet.format), "utf8");
}

/**
 * Returns the description of a cache. The description has one origin for all levels, and GDAL numbers the levels from
 * 0. It therefore omits all levels from the first one with a different origin, and the levels that are too large for
 * GDAL.
 */
export function cacheDescription(gridSet: GridSet, mimeType: string): string {
  const { extent, tileWidth, tileHeight, srs } = gridSet;
  const topOf = (z: Zoom): number => {
    const matrix = gridSet.matrices[z];
    if (matrix === undefined || gridSet.alignTopLeft) return extent.maxY;
    return extent.minY + matrix.matrixHeight * tileHeight * matrix.resolution;
  };
  const top = topOf(asZoom(0));
  const last = gridSet.matrices.findIndex((matrix, z) => {
    const isElsewhere = Math.abs(topOf(asZoom(z)) - top) > matrix.resolution / 1000;
    return isElsewhere || Math.max(matrix.matrixWidth * tileWidth, matrix.matrixHeight * tileHeight) > MOST_PIXELS;
  });
  const described = gridSet.matrices.slice(0, last === -1 ? undefined : Math.max(1, last));
  const finest = described.at(-1);
  if (finest === undefined) throw new Error(`the grid set ${gridSet.id} has no levels`);
  const right = extent.minX + finest.matrixWidth * tileWidth * finest.resolution;
  const bottom = top - finest.matrixHeight * tileHeight * finest.resolution;
  const code = canonicalSrs(srs);
  const levels = described.map(
    ({ resolution, scaleDenominator }, z) =>
      `<LODInfo xsi:type="typens:LODInfo"><LevelID>${z}</LevelID><Scale>${scaleDenominator}</Scale><Resolution>${resolution}</Resolution></LODInfo>`,
  );
  return `<?xml version="1.0" encoding="utf-8"?>
<CacheInfo xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:typens="http://www.esri.com/schemas/ArcGIS/10.3" xsi:type="typens:CacheInfo">
<TileCacheInfo xsi:type="typens:TileCacheInfo">
<SpatialReference><WKT>EPSG:${code}</WKT><WKID>${code === 3857 ? 102100 : code}</WKID><LatestWKID>${code}</LatestWKID></SpatialReference>
<TileOrigin xsi:type="typens:PointN"><X>${extent.minX}</X><Y>${top}</Y></TileOrigin>
<TileEnd xsi:type="typens:PointN"><X>${right}</X><Y>${bottom}</Y></TileEnd>
<TileCols>${tileWidth}</TileCols><TileRows>${tileHeight}</TileRows><DPI>96</DPI>
<LODInfos xsi:type="typens:ArrayOfLODInfo">
${levels.join("\n")}
</LODInfos>
</TileCacheInfo>
<TileImageInfo xsi:type="typens:TileImageInfo"><CacheTileFormat>${tileFormat(mimeType)}</CacheTileFormat><CompressionQuality>0</CompressionQuality><Antialiasing>false</Antialiasing></TileImageInfo>
<CacheStorageInfo xsi:type="typens:CacheStorageInfo"><StorageFormat>esriMapCacheStorageModeCompactV2</StorageFormat><PacketSize>128</PacketSize></CacheStorageInfo>
</CacheInfo>
`;
}

/** Returns ArcGIS's name of a format. GDAL reads a JPEG cache with three bands, and any other cache with four. */
function tileFormat(mimeType: string): string {
  const format = formatOf(mimeType);
  if (format?.kind !== "image") return "PNG";
  switch (format.encoding) {
    case "jpeg":
      return "JPEG";
    case "jpeg-png":
    case "jpeg-png8":
      return "MIXED";
    case "png8":
      return "PNG8";
    case "png":
    case "gif":
    case "webp":
    case "avif":
      return "PNG";
  }
}
