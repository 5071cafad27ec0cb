import type { TileRequest } from "../../../cache/tile-reader.ts";
import {
  asZoom,
  type Extent,
  intersectRects,
  rectCount,
  rectExtent,
  rectOf,
  type TileIndex,
  type TileRect,
  tileExtent,
  type Zoom,
} from "../../../grid/grid-set.ts";
import { isInCircle } from "../../../layer/filter/filter-mask.ts";
import { coverageAt, type GridSubset } from "../../../layer/grid-subset.ts";
import { publicName } from "../../../layer/layer.ts";
import { writeZip } from "../../../lib/file/zip.ts";
import { escapeXml } from "../../../lib/text/escape.ts";
import { queryOf } from "../tile-parts.ts";

/** The tile set of all documents of one super-overlay. */
export type KmlLayer = Pick<TileRequest, "layer" | "subset" | "format" | "parameters">;

/**
 * From this many pixels on, clients show a region. The levels above stay visible below it, so that no part is empty.
 */
const MIN_LOD_PIXELS = 128;
/** The most links of a document to tiles of one level. */
export const MOST_LINKS = 256;

/** Returns the tiles of the first level. Undefined if they are too many for one document. */
export function firstTiles(subset: GridSubset): TileRect | undefined {
  for (let z = subset.zoomStart; z <= subset.zoomStop; z++) {
    const rect = coverageAt(subset, z);
    if (rect !== undefined) return rectCount(rect) <= MOST_LINKS ? rect : undefined;
  }
  return undefined;
}

/** The suffix of the documents that a document links to. */
export type KmlSuffix = ".kml" | ".kmz";

/**
 * Returns the document that Google Earth opens: links to the tiles of the first level (OGC 12-007r2, 9.9 and 15.10).
 */
export function superOverlay(kml: KmlLayer, first: TileRect, baseUrl: string, suffix: KmlSuffix): string {
  const { layer, subset } = kml;
  return document(layer.title || publicName(layer), [
    region(rectExtent(subset.gridSet, first)),
    ...servedOf(kml, tilesOf(first)).map((tile) => networkLink(kml, tile, baseUrl, suffix)),
  ]);
}

/** Returns the document of one tile: its ground overlay, and links to the overlapping tiles of the next level. */
export const overlayNode = (kml: KmlLayer, tile: TileIndex, baseUrl: string): string =>
  tileDocument(kml, tile, baseUrl, ".kml", address(kml, tile, "", baseUrl));

/** Returns the archive of one tile, with GeoWebCache's file names: its document, and its picture if there is one. */
export function overlayArchive(
  kml: KmlLayer,
  tile: TileIndex,
  picture: Uint8Array | undefined,
  baseUrl: string,
): Uint8Array {
  const name = `x${tile.x}y${tile.y}z${tile.z}`;
  const data = `data_${name}.${kml.format.extension}`;
  const document = tileDocument(kml, tile, baseUrl, ".kmz", picture && data);
  return writeZip([
    { name: `netlinks_${name}.kml`, bytes: Buffer.from(document) },
    ...(picture === undefined ? [] : [{ name: data, bytes: picture }]),
  ]);
}

/** @param picture the escaped address of the picture; undefined without a picture */
function tileDocument(
  kml: KmlLayer,
  tile: TileIndex,
  baseUrl: string,
  suffix: KmlSuffix,
  picture: string | undefined,
): string {
  const extent = tileExtent(kml.subset.gridSet, tile);
  return document(`${tile.z}/${tile.x}/${tile.y}`, [
    region(extent),
    ...servedOf(kml, childrenOf(kml.subset, extent, asZoom(tile.z + 1))).map((child) =>
      networkLink(kml, child, baseUrl, suffix),
    ),
    ...(picture === undefined
      ? []
      : [
          `<GroundOverlay><drawOrder>${tile.z}</drawOrder><Icon><href>${picture}</href></Icon>${latLon("LatLonBox", extent)}</GroundOverlay>`,
        ]),
  ]);
}

/** Returns the tiles of zoom z that overlap an extent. If resolutions do not halve, a tile has several parents. */
function childrenOf(subset: GridSubset, extent: Extent, z: Zoom): readonly TileIndex[] {
  const offered = coverageAt(subset, z);
  const met = offered === undefined ? undefined : rectOf(subset.gridSet, z, extent);
  const rect = offered === undefined || met === undefined ? undefined : intersectRects(met, offered);
  // If a tile contains hundreds of tiles, it gets no links: the resolutions differ too much for a super-overlay.
  return rect === undefined || rectCount(rect) > MOST_LINKS ? [] : tilesOf(rect);
}

/**
 * Returns the tiles that circle filters permit. Keeps links to tiles that a raster filter refuses, because the raster
 * may not be loaded yet, and the tiles are only empty.
 */
function servedOf({ layer, subset }: KmlLayer, tiles: readonly TileIndex[]): readonly TileIndex[] {
  const hasCircle = layer.requestFilters?.some(({ type }) => type === "circle") === true;
  return hasCircle ? tiles.filter((tile) => isInCircle(subset, tile)) : tiles;
}

function tilesOf({ minX, minY, maxX, maxY, z }: TileRect): TileIndex[] {
  const tiles: TileIndex[] = [];
  for (let y = minY; y <= maxY; y++) for (let x = minX; x <= maxX; x++) tiles.push({ x, y, z });
  return tiles;
}

const document = (name: string, parts: readonly string[]): string => `<?xml version="1.0" encoding="UTF-8"?>
<kml xmlns="http://www.opengis.net/kml/2.2">
<Document>
<name>${escapeXml(name)}</name>
${parts.join("\n")}
</Document>
</kml>
`;

const latLon = (element: string, { minX, minY, maxX, maxY }: Extent): string =>
  `<${element}><north>${maxY}</north><south>${minY}</south><east>${maxX}</east><west>${minX}</west></${element}>`;

const region = (extent: Extent): string =>
  `<Region>${latLon("LatLonAltBox", extent)}<Lod><minLodPixels>${MIN_LOD_PIXELS}</minLodPixels><maxLodPixels>-1</maxLodPixels></Lod></Region>`;

const networkLink = (kml: KmlLayer, tile: TileIndex, baseUrl: string, suffix: KmlSuffix): string =>
  `<NetworkLink><name>${tile.z}/${tile.x}/${tile.y}</name>${region(tileExtent(kml.subset.gridSet, tile))}<Link><href>${address(kml, tile, suffix, baseUrl)}</href><viewRefreshMode>onRegion</viewRefreshMode></Link></NetworkLink>`;

/**
 * Returns the address of a tile as in GWC (`docs/explanation/geowebcache.md`, Tile services). y counts from the bottom.
 */
function address({ layer, format, parameters }: KmlLayer, tile: TileIndex, suffix: string, baseUrl: string): string {
  const name = `x${tile.x}y${tile.y}z${tile.z}.${format.extension}${suffix}`;
  return escapeXml(`${baseUrl}/service/kml/${encodeURIComponent(publicName(layer))}/${name}${queryOf(parameters)}`);
}
