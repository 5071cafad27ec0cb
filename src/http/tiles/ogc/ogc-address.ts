import type { Catalogue } from "../../../layer/catalogue.ts";
import { parseParameters } from "../../../layer/filter/parameter-filter.ts";
import { type Layer, publicName } from "../../../layer/layer.ts";
import { badField, type Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { HTML_TYPE } from "../../reply.ts";
import type { Query } from "../../request/query.ts";
import { wholeNumber } from "../address.ts";
import {
  findLayer,
  findLevel,
  findRequestedFormat,
  notFound,
  type ParsedAddress,
  type Parser,
  type ProtocolRefusal,
  resolveTile,
  type WholeDocument,
} from "../tile-parts.ts";
import {
  allGrids,
  bothTileMatrixSets,
  collection,
  collections,
  conformance,
  datasetTilesets,
  formatsOf,
  landingPage,
  layersOf,
  mapTileset,
  type NamedGrid,
  namedGrids,
  OPENAPI_TYPE,
  offersMaps,
  TITLE,
  type TilesKind,
  tileMatrixSet,
  tileMatrixSets,
  tileset,
  tilesets,
  tilesetUrl,
} from "./ogc-documents.ts";
import { parseMap } from "./ogc-map-address.ts";
import { openApiDocument } from "./ogc-openapi.ts";
import { ogcPage } from "./ogc-page.ts";

/** A document at an address below `/ogc`. */
interface OgcDocument {
  readonly rest: readonly string[];
  readonly query: Query;
  readonly title: string;
  readonly write: (base: string) => unknown;
  /** Default: JSON. */
  readonly contentType?: string;
  /** Returns the address of the tile set that the page shows as a map. Absent: no map. */
  readonly tileset?: (base: string) => string | undefined;
  /** Writes the document for clients whose Accept is its type alone, where it differs. */
  readonly writeStrict?: () => unknown;
}

/** Returns a document in the form that `f` names, or in both forms. */
function document({
  rest,
  query,
  title,
  write,
  contentType = "application/json",
  tileset,
  writeStrict,
}: OgcDocument): Result<ParsedAddress, Refusal> {
  const path = rest.map((segment) => `/${encodeURIComponent(segment)}`).join("");
  const page: WholeDocument = {
    kind: "document",
    name: `ogc${path} page`,
    contentType: HTML_TYPE,
    write: (baseUrl) => {
      const base = `${baseUrl}/ogc`;
      return ogcPage(write(base), { title, base, address: base + path, tileset: tileset?.(base) });
    },
  };
  const json: WholeDocument = {
    kind: "document",
    name: `ogc${path}`,
    contentType,
    write: (baseUrl) => JSON.stringify(write(`${baseUrl}/ogc`)),
  };
  const strict = writeStrict && { ...json, name: `${json.name} strict`, write: () => JSON.stringify(writeStrict()) };
  const form = query.get("F");
  switch (form) {
    case undefined:
      return ok({ ...json, page, ...(strict && { strict }) });
    case "json":
    case "application/json":
    case contentType:
      return ok(json);
    case "html":
    case "text/html":
      return ok(page);
    default:
      return refuse(badField("f", "json or html", form));
  }
}

/**
 * Parses an address of OGC API - Tiles - Part 1 (OGC 20-057): tiles of collections. `rest` is the path after `/ogc`.
 */
export const parseOgc: Parser = (catalogue, rest, query) => {
  const [first, second] = rest;
  switch (first) {
    case undefined:
      return document({ rest, query, title: TITLE, write: (base) => landingPage(catalogue, base) });
    case "api": {
      const write = (base: string) => openApiDocument(catalogue, base);
      return rest.length === 1
        ? document({ rest, query, title: "The requests of this service", write, contentType: OPENAPI_TYPE })
        : nothing();
    }
    case "conformance":
      return rest.length === 1 ? document({ rest, query, title: "Conformance", write: conformance }) : nothing();
    case "tileMatrixSets": {
      if (rest.length === 1)
        return document({ rest, query, title: "Tile matrix sets", write: (base) => tileMatrixSets(catalogue, base) });
      const grid = allGrids(catalogue).get(second ?? "");
      return grid === undefined || rest.length > 2
        ? nothing()
        : document({
            rest,
            query,
            title: grid.subset.gridSet.title ?? grid.id,
            write: () => tileMatrixSet(grid),
            writeStrict: () => bothTileMatrixSets(grid),
          });
    }
    case "collections": {
      if (second === undefined)
        return document({ rest, query, title: "Layers", write: (base) => collections(catalogue, base) });
      const layer = findLayer(catalogue, second);
      return layer.ok ? parseCollection(catalogue, layer.value, rest, query) : layer;
    }
    case "map":
    case "tiles":
      return parseDataset(catalogue, rest, query);
    default:
      return nothing();
  }
};

/**
 * Parses `[map/]tiles[/{tileMatrixSet}[/…]]`: tiles of the layer in `collections`, else of the first layer with this
 * kind of tiles and this tile matrix set.
 */
const parseDataset: Parser = (catalogue, rest, query) => {
  const kind = rest[0] === "map" ? "map" : "vector";
  const [tiles, tileMatrixSet] = rest.slice(kind === "map" ? 1 : 0);
  if (tiles !== "tiles") return nothing();
  const named = query.get("COLLECTIONS");
  if (named === undefined && tileMatrixSet === undefined)
    return document({ rest, query, title: "Tile sets", write: (base) => datasetTilesets(catalogue, kind, base) });
  const layer = named === undefined ? firstWith(catalogue, kind, tileMatrixSet) : findLayer(catalogue, named);
  return layer.ok ? parseCollection(catalogue, layer.value, ["collections", layer.value.name, ...rest], query) : layer;
};

function firstWith(catalogue: Catalogue, kind: TilesKind, tileMatrixSet: string | undefined): Result<Layer, Refusal> {
  const layer = layersOf(catalogue, kind).find((one) => namedGrids(one).some(({ id }) => id === tileMatrixSet));
  return layer === undefined ? nothing() : ok(layer);
}

const nothing = () =>
  notFound(
    "Nothing is at this address. There are /ogc, /ogc/api, /ogc/conformance, /ogc/tileMatrixSets, /ogc/collections, /ogc/map/tiles, /ogc/tiles and the addresses that they link to",
  );

/** Parses `collections/{layer}[/map]` and `collections/{layer}[/map]/tiles[/{tileMatrixSet}[/{tileMatrix}/{tileRow}/{tileCol}]]`. */
function parseCollection(
  catalogue: Catalogue,
  layer: Layer,
  rest: readonly string[],
  query: Query,
): Result<ParsedAddress, ProtocolRefusal> {
  const title = layer.title || publicName(layer);
  if (rest.length === 2)
    return document({
      rest,
      query,
      title,
      write: (base) => collection(catalogue, layer, base),
      tileset: (base) => mapTileset(layer, base),
    });
  if (rest.length === 3 && rest[2] === "map" && offersMaps(catalogue, layer)) return parseMap(catalogue, layer, query);
  const kind = rest[2] === "map" ? "map" : "vector";
  const [tiles, tileMatrixSet, ...tile] = rest.slice(kind === "map" ? 3 : 2);
  if (tiles !== "tiles" || formatsOf(layer, kind).length === 0) return nothing();
  if (tileMatrixSet === undefined)
    return document({ rest, query, title: `${title}: tile sets`, write: (base) => tilesets(layer, kind, base) });
  const grids = namedGrids(layer);
  const grid = grids.find(({ id }) => id === tileMatrixSet);
  if (grid === undefined) return notFound(`The layer's tile matrix sets are ${grids.map(({ id }) => id).join(", ")}`);
  if (tile.length === 0)
    return document({
      rest,
      query,
      title: `${title}: ${grid.id}`,
      write: (base) => tileset(grid, layer, kind, base),
      tileset: (base) => tilesetUrl(grid, layer, kind, base),
    });
  return tile.length === 3 ? parseTile(layer, kind, grid, tile, query) : nothing();
}

/**
 * Parses the address of a tile. The format is given by `f`, a MIME type or an extension, else it is the layer's first
 * format of the kind.
 */
function parseTile(
  layer: Layer,
  kind: TilesKind,
  { subset }: NamedGrid,
  [matrix = "", rowText = "", columnText = ""]: readonly string[],
  query: Query,
): Result<ParsedAddress, Refusal> {
  const z = findLevel(subset.gridSet, matrix);
  if (z === undefined) return refuse(badField("tileMatrix", "the name or number of a level", matrix));
  const row = wholeNumber("tileRow", rowText);
  if (!row.ok) return row;
  const column = wholeNumber("tileCol", columnText);
  if (!column.ok) return column;
  return resolveTile(
    { layer, subset },
    findRequestedFormat({ formats: formatsOf(layer, kind) }, query.get("F")),
    parseParameters(layer.parameterFilters, query, "ignore"),
    { z, column: column.value, row: row.value, rows: "top" },
  );
}
