import { advertisedLayers, type Catalogue } from "../../../layer/catalogue.ts";
import { publicName } from "../../../layer/layer.ts";
import { ownVersion } from "../../../lib/process/version.ts";
import {
  allGrids,
  formatsOf,
  KINDS,
  layersOf,
  OPENAPI_TYPE,
  offersMaps,
  TILES_PATHS,
  type TilesKind,
} from "./ogc-documents.ts";

/*
 * The description of `/ogc` as OpenAPI 3.0: the routes that exist with the layers of the catalogue. The ends of the
 * operation ids follow OGC API - Tiles (OGC 20-057, clause 11).
 */

type Document = Readonly<Record<string, unknown>>;

const inPath = (name: string, description: string, values?: readonly string[]): Document => ({
  name,
  in: "path",
  required: true,
  description,
  schema: { type: "string", ...(values === undefined || values.length === 0 ? {} : { enum: values }) },
});

const refused = { description: "a reason in one sentence", content: { "text/plain": { schema: { type: "string" } } } };
const json = { "application/json": { schema: { type: "object" } } };

interface Operation {
  readonly id: string;
  readonly summary: string;
  readonly parameters?: readonly Document[];
  readonly content?: Document;
  readonly errors?: readonly number[];
}

const get = ({ id, summary, parameters = [], content = json, errors = [] }: Operation): Document => ({
  get: {
    operationId: id,
    summary,
    ...(parameters.length === 0 ? {} : { parameters }),
    responses: {
      200: { description: "the document or the tile", content },
      ...Object.fromEntries([...errors, 500].map((status) => [status, refused])),
    },
  },
});

/** Returns the paths of the tile sets of one kind. `of` selects the tile sets of a collection or of the dataset. */
function tilesPaths(catalogue: Catalogue, kind: TilesKind, of: "collection" | "dataset"): Document {
  const layers = layersOf(catalogue, kind);
  const own = of === "collection" ? [inPath("collectionId", "a layer", layers.map(publicName))] : [];
  const path = `${of === "collection" ? "/collections/{collectionId}" : ""}/${TILES_PATHS[kind]}`;
  const grid = inPath("tileMatrixSetId", "a grid set of the layer", [...allGrids(catalogue).keys()]);
  const named: readonly Document[] =
    of === "collection"
      ? []
      : [{ name: "collections", in: "query", description: "a layer; the first", schema: { type: "string" } }];
  const formats = new Map(layers.flatMap((layer) => formatsOf(layer, kind)).map((one) => [one.extension, one]));
  const types = new Set([...formats.values()].map(({ mimeType }) => mimeType));
  const format: Document = {
    name: "f",
    in: "query",
    description: "the format; the first of the layer",
    schema: { type: "string", enum: [...formats.keys()] },
  };
  const position = ["tileMatrix", "tileRow", "tileCol"].map((name) => inPath(name, "where the tile is"));
  return {
    [path]: get({
      id: `${of}.${kind}.getTileSetsList`,
      summary: "The tile sets",
      parameters: [...own, ...named],
      errors: [400, 401, 404],
    }),
    [`${path}/{tileMatrixSetId}`]: get({
      id: `${of}.${kind}.getTileSet`,
      summary: "A tile set",
      parameters: [...own, grid, ...named],
      errors: [400, 401, 404],
    }),
    [`${path}/{tileMatrixSetId}/{tileMatrix}/{tileRow}/{tileCol}`]: get({
      id: `${of}.${kind}.getTile`,
      summary: "A tile",
      parameters: [...own, grid, ...position, ...named, format],
      content: Object.fromEntries([...types].map((type) => [type, { schema: { type: "string", format: "binary" } }])),
      errors: [400, 401, 403, 404, 502, 503, 504],
    }),
  };
}

const MAP_PARAMETERS: Readonly<
  Record<string, { readonly type: "string" | "integer" | "number"; readonly text: string }>
> = {
  crs: { type: "string", text: "the CRS of the map, as a URI; the layer's first" },
  bbox: { type: "string", text: "four numbers in the order of the axes of bbox-crs" },
  "bbox-crs": { type: "string", text: "the CRS of bbox, as a URI; CRS84" },
  subset: { type: "string", text: "ranges of axes, such as Lon(-10:10),Lat(40:50)" },
  "subset-crs": { type: "string", text: "the CRS of subset, as a URI; CRS84" },
  center: { type: "string", text: "two numbers in the order of the axes of center-crs" },
  "center-crs": { type: "string", text: "the CRS of center, as a URI; CRS84" },
  width: { type: "integer", text: "the width in pixels" },
  height: { type: "integer", text: "the height in pixels" },
  "scale-denominator": { type: "number", text: "the scale of the map, instead of width and height" },
  "mm-per-pixel": { type: "number", text: "the size of a pixel for scale-denominator; 0.28" },
  bgcolor: { type: "string", text: "the colour below the map, 0xRRGGBB" },
  transparent: { type: "string", text: "true or false" },
};

/** Returns the paths of maps. Empty if no layer has maps. */
function mapPaths(catalogue: Catalogue): Document {
  const layers = advertisedLayers(catalogue).filter((layer) => offersMaps(catalogue, layer));
  if (layers.length === 0) return {};
  const formats = new Map(layers.flatMap((layer) => formatsOf(layer, "map")).map((one) => [one.extension, one]));
  const types = new Set([...formats.values()].map(({ mimeType }) => mimeType));
  const inQuery = (name: string, description: string, schema: Document): Document => ({
    name,
    in: "query",
    description,
    schema,
  });
  return {
    "/collections/{collectionId}/map": get({
      id: "collection.getMap",
      summary: "A map of any box",
      parameters: [
        inPath("collectionId", "a layer", layers.map(publicName)),
        ...Object.entries(MAP_PARAMETERS).map(([name, { type, text }]) => inQuery(name, text, { type })),
        inQuery("f", "the format; the first of the layer", { type: "string", enum: [...formats.keys()] }),
      ],
      content: Object.fromEntries([...types].map((type) => [type, { schema: { type: "string", format: "binary" } }])),
      errors: [400, 401, 404, 502, 503, 504],
    }),
  };
}

/** Returns the OpenAPI 3.0 document of `/ogc`. */
export const openApiDocument = (catalogue: Catalogue, base: string): unknown => ({
  openapi: "3.0.3",
  info: { title: "Nuthatch: OGC API - Tiles and Maps", version: ownVersion() },
  servers: [{ url: base }],
  security: [{}, { account: [] }],
  paths: {
    "/": get({ id: "getLandingPage", summary: "The landing page" }),
    "/api": get({
      id: "getApi",
      summary: "This document",
      content: { [OPENAPI_TYPE]: { schema: { type: "object" } } },
    }),
    "/conformance": get({ id: "getConformance", summary: "The conformance classes" }),
    "/tileMatrixSets": get({ id: "getTileMatrixSetsList", summary: "The grid sets of all layers" }),
    "/tileMatrixSets/{tileMatrixSetId}": get({
      id: "getTileMatrixSet",
      summary: "A grid set",
      parameters: [inPath("tileMatrixSetId", "a grid set", [...allGrids(catalogue).keys()])],
      errors: [404],
    }),
    "/collections": get({ id: "getCollections", summary: "The layers" }),
    "/collections/{collectionId}": get({
      id: "getCollection",
      summary: "A layer",
      parameters: [inPath("collectionId", "a layer", advertisedLayers(catalogue).map(publicName))],
      errors: [401, 404],
    }),
    ...mapPaths(catalogue),
    ...Object.assign(
      {},
      ...KINDS.filter((kind) => layersOf(catalogue, kind).length > 0).flatMap((kind) => [
        tilesPaths(catalogue, kind, "collection"),
        tilesPaths(catalogue, kind, "dataset"),
      ]),
    ),
  },
  components: { securitySchemes: { account: { type: "http", scheme: "basic" } } },
});
