import { isYFirst } from "../../../grid/crs/axis-order.ts";
import { isGeographic } from "../../../grid/crs/coordinate-systems.ts";
import { asZoom, canonicalSrs, type GridSet, topLeftCorner } from "../../../grid/grid-set.ts";
import { advertisedLayers, type Catalogue, composesMaps } from "../../../layer/catalogue.ts";
import type { TileFormat } from "../../../layer/format.ts";
import type { GridSubset } from "../../../layer/grid-subset.ts";
import { defaultSubset, type Layer, publicName, WEB_GRID } from "../../../layer/layer.ts";
import { geographicBox } from "../geographic-box.ts";
import { offeredRange } from "../tile-parts.ts";

/*
 * The documents of OGC API - Tiles - Part 1 (OGC 20-057), and the parts of Common (19-072) that it needs. Every
 * function returns JSON with absolute links under `base`, which ends in `/ogc`. Members that are undefined are not
 * written.
 */

/** The type of the description at `/ogc/api`. */
export const OPENAPI_TYPE = "application/vnd.oai.openapi+json;version=3.0";

/** A grid set under one of its names in requests: its id, or the OGC's name of the same grid set. */
export interface NamedGrid {
  readonly id: string;
  readonly subset: GridSubset;
  /** The URI in the OGC's register. Undefined if the OGC does not define the grid set. */
  readonly uri: string | undefined;
}

const WELL_KNOWN = [
  { id: "WebMercatorQuad", gridSet: WEB_GRID },
  { id: "WorldCRS84Quad", gridSet: "EPSG:4326" },
];
const REGISTER = "http://www.opengis.net/def/tilematrixset/OGC/1.0/";
const SCALE_SETS = "http://www.opengis.net/def/wkss/OGC/1.0/";

/** Returns the grid sets of a layer. A grid set that the OGC defines is listed under both names. */
export function namedGrids(layer: Layer): readonly NamedGrid[] {
  const own = layer.gridSubsets.map((subset) => ({ id: subset.gridSet.id, subset, uri: undefined }));
  const known = WELL_KNOWN.flatMap(({ id, gridSet }) => {
    const subset = layer.gridSubsets.find((s) => s.gridSet.id === gridSet);
    return subset === undefined || own.some((grid) => grid.id === id) ? [] : [{ id, subset, uri: REGISTER + id }];
  });
  return [...known, ...own];
}

/** Returns every grid set that a layer offers, by name. */
export function allGrids(catalogue: Catalogue): ReadonlyMap<string, NamedGrid> {
  const found = new Map<string, NamedGrid>();
  for (const layer of advertisedLayers(catalogue))
    for (const grid of namedGrids(layer)) if (!found.has(grid.id)) found.set(grid.id, grid);
  return found;
}

const link = (rel: string, href: string) => ({ rel, href, type: "application/json" });
/** Returns the links of a document to itself and to its page. */
const ownLinks = (href: string) => [
  link("self", href),
  { rel: "alternate", href: `${href}?f=html`, type: "text/html", title: "This document as a page" },
];
const TILING_SCHEMES = "http://www.opengis.net/def/rel/ogc/1.0/tiling-schemes";
const TILING_SCHEME = "http://www.opengis.net/def/rel/ogc/1.0/tiling-scheme";
/** The kind of tiles of a collection: pictures (`/map/tiles`) or data (`/tiles`). */
export type TilesKind = "map" | "vector";
export const KINDS = ["map", "vector"] as const;

const TILESETS = {
  map: "http://www.opengis.net/def/rel/ogc/1.0/tilesets-map",
  vector: "http://www.opengis.net/def/rel/ogc/1.0/tilesets-vector",
} as const;

export const TILES_PATHS = { map: "map/tiles", vector: "tiles" } as const;

/** Returns the formats of a layer for a kind of tiles. */
export const formatsOf = (layer: Layer, kind: TilesKind): readonly TileFormat[] =>
  layer.formats.filter((format) => (format.kind === "image") === (kind === "map"));

/** Returns whether a layer has maps of any box (OGC API - Maps - Part 1). */
export const offersMaps = (catalogue: Pick<Catalogue, "service">, layer: Layer): boolean =>
  composesMaps(catalogue, layer) && formatsOf(layer, "map").length > 0;

/** Returns the layers that have a kind of tiles. */
export const layersOf = (catalogue: Catalogue, kind: TilesKind): readonly Layer[] =>
  advertisedLayers(catalogue).filter((layer) => formatsOf(layer, kind).length > 0);

const tilesUrl = (base: string, layer: Layer, kind: TilesKind): string =>
  `${collectionUrl(base, layer)}/${TILES_PATHS[kind]}`;

const collectionUrl = (base: string, layer: Layer): string =>
  `${base}/collections/${encodeURIComponent(publicName(layer))}`;
const crsOf = ({ srs }: GridSet): string => `http://www.opengis.net/def/crs/EPSG/0/${canonicalSrs(srs)}`;
const CRS84 = "http://www.opengis.net/def/crs/OGC/1.3/CRS84";

/** The title of the service, if the configuration has none. */
export const TITLE = "Nuthatch";

export const landingPage = (catalogue: Catalogue, base: string) => ({
  title: catalogue.service.information.title || TITLE,
  description: catalogue.service.information.description || "A tile cache for maps",
  links: [
    ...ownLinks(base),
    { rel: "service-desc", href: `${base}/api`, type: OPENAPI_TYPE },
    { rel: "service-doc", href: `${base}/api?f=html`, type: "text/html", title: "The requests of this service" },
    {
      rel: "service-doc",
      href: `${base.slice(0, -"/ogc".length)}/docs/reference/protocols.html`,
      type: "text/html",
      title: "Documentation",
    },
    link("conformance", `${base}/conformance`),
    link("data", `${base}/collections`),
    link(TILING_SCHEMES, `${base}/tileMatrixSets`),
    ...KINDS.filter((kind) => layersOf(catalogue, kind).length > 0).map((kind) =>
      link(TILESETS[kind], `${base}/${TILES_PATHS[kind]}`),
    ),
  ],
});

export const conformance = () => ({
  conformsTo: [
    ...["core", "collection-map", "scaling", "spatial-subsetting", "crs", "background", "png", "jpeg"].map(
      (part) => `http://www.opengis.net/spec/ogcapi-maps-1/1.0/conf/${part}`,
    ),
    ...["core", "landing-page", "json", "html", "oas30"].map(
      (part) => `http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/${part}`,
    ),
    "http://www.opengis.net/spec/ogcapi-common-2/1.0/conf/collections",
    ...[
      "core",
      "tileset",
      "tilesets-list",
      "dataset-tilesets",
      "geodata-tilesets",
      "png",
      "jpeg",
      "mvt",
      "geojson",
      "oas30",
    ].map((part) => `http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/${part}`),
    ...["tilematrixset", "tilematrixsetlimits", "tilesetmetadata"].flatMap((part) => [
      `http://www.opengis.net/spec/tms/2.0/conf/${part}`,
      `http://www.opengis.net/spec/tms/2.0/conf/json-${part}`,
    ]),
  ],
});

export const tileMatrixSets = (catalogue: Catalogue, base: string) => ({
  tileMatrixSets: [...allGrids(catalogue).values()].map(({ id, subset, uri }) => ({
    id,
    title: subset.gridSet.title ?? id,
    uri,
    links: [link("self", `${base}/tileMatrixSets/${encodeURIComponent(id)}`)],
  })),
});

/**
 * Returns the tile matrix set in OGC Two Dimensional Tile Matrix Set 2.0 (17-083r4), JSON encoding. It also has the
 * members of version 1.0 (17-083r2), the only ones that GDAL before 3.7 reads.
 */
export function tileMatrixSet({ id, subset, uri }: NamedGrid) {
  const { gridSet } = subset;
  const lonLat = id === "WorldCRS84Quad";
  const yFirst = isYFirst(gridSet) && !lonLat;
  const axes = isGeographic(gridSet.srs) ? ["Lat", "Lon"] : ["N", "E"];
  const crs = lonLat ? CRS84 : crsOf(gridSet);
  const levels = gridSet.matrices.map((matrix, z) => {
    const { x, y } = topLeftCorner(gridSet, asZoom(z));
    return {
      name: uri === undefined ? matrix.name : String(z),
      corner: yFirst ? ([y, x] as const) : ([x, y] as const),
      cellSize: matrix.resolution,
      size: {
        scaleDenominator: matrix.scaleDenominator,
        tileWidth: gridSet.tileWidth,
        tileHeight: gridSet.tileHeight,
        matrixWidth: matrix.matrixWidth,
        matrixHeight: matrix.matrixHeight,
      },
    };
  });
  return {
    id,
    title: gridSet.title ?? id,
    uri,
    crs,
    orderedAxes: yFirst ? axes : axes.reverse(),
    wellKnownScaleSet:
      uri === undefined ? undefined : SCALE_SETS + (lonLat ? "GoogleCRS84Quad" : "GoogleMapsCompatible"),
    tileMatrices: levels.map(({ name, corner, cellSize, size }) => ({
      id: name,
      cellSize,
      cornerOfOrigin: "topLeft",
      pointOfOrigin: corner,
      ...size,
    })),
    type: "TileMatrixSetType",
    identifier: id,
    supportedCRS: crs,
    tileMatrix: levels.map(({ name, corner, size }) => ({
      type: "TileMatrixType",
      identifier: name,
      topLeftCorner: corner,
      ...size,
    })),
  };
}

export const collections = (catalogue: Catalogue, base: string) => ({
  links: ownLinks(`${base}/collections`),
  collections: advertisedLayers(catalogue).map((layer) => collection(catalogue, layer, base)),
});

export function collection(catalogue: Catalogue, layer: Layer, base: string) {
  const box = geographicBox(layer);
  const url = collectionUrl(base, layer);
  return {
    id: publicName(layer),
    title: layer.title || publicName(layer),
    description: layer.description || undefined,
    attribution: layer.attribution || undefined,
    extent: box && { spatial: { bbox: [[box.minX, box.minY, box.maxX, box.maxY]], crs: CRS84 } },
    links: [
      ...ownLinks(url),
      ...KINDS.filter((kind) => formatsOf(layer, kind).length > 0).map((kind) =>
        link(TILESETS[kind], tilesUrl(base, layer, kind)),
      ),
      ...(offersMaps(catalogue, layer) ? formatsOf(layer, "map") : []).map(({ mimeType, extension }) => ({
        rel: "http://www.opengis.net/def/rel/ogc/1.0/map",
        href: `${url}/map?f=${extension}`,
        type: mimeType,
      })),
    ],
    crs: [...new Set(layer.gridSubsets.map(({ gridSet }) => crsOf(gridSet)))],
  };
}

/** Returns the address of a tile set. */
export const tilesetUrl = ({ id }: Pick<NamedGrid, "id">, layer: Layer, kind: TilesKind, base: string): string =>
  `${tilesUrl(base, layer, kind)}/${encodeURIComponent(id)}`;

/** Returns the address of the tile set for a map of a layer: of web maps if the layer has it, else the first. */
export function mapTileset(layer: Layer, base: string): string | undefined {
  const kind = KINDS.find((one) => formatsOf(layer, one).length > 0);
  const id = defaultSubset(layer)?.gridSet.id;
  return kind === undefined || id === undefined ? undefined : tilesetUrl({ id }, layer, kind, base);
}

/** Returns the fields of a tile set that are both in the list and in its own document. */
function tilesetItem({ id, subset, uri }: NamedGrid, layer: Layer, kind: TilesKind, base: string) {
  const url = tilesetUrl({ id }, layer, kind, base);
  return {
    title: `${layer.title || publicName(layer)}: ${id}`,
    attribution: layer.attribution || undefined,
    dataType: kind,
    crs: id === "WorldCRS84Quad" ? CRS84 : crsOf(subset.gridSet),
    tileMatrixSetId: id,
    tileMatrixSetURI: uri ?? `${base}/tileMatrixSets/${encodeURIComponent(id)}`,
    tileMatrixSetLimits: limitsOf({ subset, uri }),
    links: [
      ...ownLinks(url),
      link(TILING_SCHEME, `${base}/tileMatrixSets/${encodeURIComponent(id)}`),
      ...formatsOf(layer, kind).map(({ mimeType, extension }) => ({
        rel: "item",
        href: `${url}/{tileMatrix}/{tileRow}/{tileCol}?f=${extension}`,
        type: mimeType,
        templated: true,
      })),
    ],
  };
}

export const tilesets = (layer: Layer, kind: TilesKind, base: string) => ({
  links: ownLinks(tilesUrl(base, layer, kind)),
  tilesets: namedGrids(layer).map((grid) => tilesetItem(grid, layer, kind, base)),
});

/** Returns the tile sets of the dataset, which consists of all layers. */
export const datasetTilesets = (catalogue: Catalogue, kind: TilesKind, base: string) => ({
  links: ownLinks(`${base}/${TILES_PATHS[kind]}`),
  tilesets: layersOf(catalogue, kind).flatMap((layer) =>
    namedGrids(layer).map((grid) => tilesetItem(grid, layer, kind, base)),
  ),
});

/** Returns the tile ranges of each level that a layer offers. */
const limitsOf = ({ subset, uri }: Pick<NamedGrid, "subset" | "uri">) =>
  subset.gridSet.matrices.flatMap((matrix, z) => {
    const range = offeredRange(subset, asZoom(z), "top");
    if (range === undefined) return [];
    return [
      {
        tileMatrix: uri === undefined ? matrix.name : String(z),
        minTileRow: range.minRow,
        maxTileRow: range.maxRow,
        minTileCol: range.minColumn,
        maxTileCol: range.maxColumn,
      },
    ];
  });

/** Returns tile set metadata (OGC 17-083r4, 8): the fields of the list, and the layers in its vector tiles. */
export const tileset = (grid: NamedGrid, layer: Layer, kind: TilesKind, base: string) => ({
  ...tilesetItem(grid, layer, kind, base),
  layers:
    kind === "map"
      ? undefined
      : layer.vectorLayers?.map(({ id, description }) => ({ id, dataType: "vector", description })),
});
