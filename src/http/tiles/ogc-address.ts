import type { Catalogue } from "../../layer/catalogue.ts";
import type { Layer } from "../../layer/layer.ts";
import { parseParameters } from "../../layer/parameter-filter.ts";
import { badField, type Refusal } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { wholeNumber } from "./address.ts";
import {
  allGrids,
  collection,
  collections,
  conformance,
  landingPage,
  type NamedGrid,
  namedGrids,
  tileMatrixSet,
  tileMatrixSets,
  tileset,
  tilesets,
} from "./ogc-documents.ts";
import { type Asked, findFormatAsked, findLayer, levelOf, notFound, tileAt } from "./tile-parts.ts";

type Query = ReadonlyMap<string, string>;

const document = (rest: readonly string[], write: (base: string) => unknown): Result<Asked, Refusal> =>
  ok({
    kind: "document",
    name: `ogc/${rest.map(encodeURIComponent).join("/")}`,
    contentType: "application/json",
    write: (baseUrl) => JSON.stringify(write(`${baseUrl}/ogc`)),
  });

/** OGC API - Tiles - Part 1 (OGC 20-057): map tiles of collections. `rest` is what follows `/ogc`. */
export function parseOgc(catalogue: Catalogue, rest: readonly string[], query: Query): Result<Asked, Refusal> {
  const [first, second] = rest;
  switch (first) {
    case undefined:
      return document(rest, landingPage);
    case "conformance":
      return rest.length === 1 ? document(rest, conformance) : nothing();
    case "tileMatrixSets": {
      if (rest.length === 1) return document(rest, (base) => tileMatrixSets(catalogue, base));
      const grid = allGrids(catalogue).get(second ?? "");
      return grid === undefined || rest.length > 2 ? nothing() : document(rest, () => tileMatrixSet(grid));
    }
    case "collections": {
      if (second === undefined) return document(rest, (base) => collections(catalogue, base));
      const layer = findLayer(catalogue, second);
      return layer.ok ? parseCollection(layer.value, rest, query) : layer;
    }
    default:
      return nothing();
  }
}

const nothing = () =>
  notFound(
    "Nothing is here. There are /ogc, /ogc/conformance, /ogc/tileMatrixSets, /ogc/collections and what they link to",
  );

/** `collections/{layer}[/map/tiles[/{tileMatrixSet}[/{tileMatrix}/{tileRow}/{tileCol}]]]` */
function parseCollection(layer: Layer, rest: readonly string[], query: Query): Result<Asked, Refusal> {
  if (rest.length === 2) return document(rest, (base) => collection(layer, base));
  if (rest[2] !== "map" || rest[3] !== "tiles") return nothing();
  if (rest.length === 4) return document(rest, (base) => tilesets(layer, base));
  const grids = namedGrids(layer);
  const grid = grids.find(({ id }) => id === rest[4]);
  if (grid === undefined) return notFound(`The layer's tile matrix sets are ${grids.map(({ id }) => id).join(", ")}`);
  if (rest.length === 5) return document(rest, (base) => tileset(grid, layer, base));
  return rest.length === 8 ? parseTile(layer, grid, rest, query) : nothing();
}

/** The format is that of `f`, a MIME type or an extension, else the layer's first. */
function parseTile(layer: Layer, { subset }: NamedGrid, rest: readonly string[], query: Query): Result<Asked, Refusal> {
  const [matrix = "", rowText = "", columnText = ""] = rest.slice(5);
  const z = levelOf(subset.gridSet, matrix);
  if (z === undefined) return refuse(badField("tileMatrix", "the name or number of a level", matrix));
  const row = wholeNumber("tileRow", rowText);
  if (!row.ok) return row;
  const column = wholeNumber("tileCol", columnText);
  if (!column.ok) return column;
  const format = findFormatAsked(layer, query.get("F"));
  if (!format.ok) return format;
  const parameters = parseParameters(layer.parameterFilters, query, "ignore");
  if (!parameters.ok) return parameters;
  return tileAt(
    { layer, subset, format: format.value, parameters: parameters.value },
    { z, column: column.value, row: row.value, rows: "top" },
  );
}
