import type { MapRequest } from "../../cache/map-renderer.ts";
import type { TileRequest } from "../../cache/tile-reader.ts";
import type { UpstreamQuestion } from "../../cache/upstream-question.ts";
import { asTileIndex, asZoom, type GridSet, type Zoom } from "../../grid/grid-set.ts";
import { type Catalogue, layerNamed } from "../../layer/catalogue.ts";
import type { Parameters } from "../../layer/filter/parameter-filter.ts";
import { formatOf, formatOfExtension, type TileFormat } from "../../layer/format.ts";
import { coverageAt, type GridSubset } from "../../layer/grid-subset.ts";
import { findSubset, type Layer } from "../../layer/layer.ts";
import { badField, type Refusal, shown, unknownLayer } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import type { Query } from "../request/query.ts";
import type { Dialect, OgcException } from "./reply/ogc-exception.ts";

/** A refusal with an exception code for OGC documents. Protocols with plain text answers ignore the code. */
export type ProtocolRefusal = Refusal & {
  readonly exception?: OgcException;
  /** The tile of a well-formed address that is outside of the layer: its zoom or its position is not offered. */
  readonly outside?: OutsideTile;
  /** The format of the error, if it is not the protocol's for the request. */
  readonly dialect?: Dialect;
};

/** The result of a parser that refuses a request. */
export type Refused = Extract<Result<never, ProtocolRefusal>, { readonly ok: false }>;

export interface OutsideTile {
  readonly request: TileRequest;
  readonly why: "outside_levels" | "outside_coverage";
}

/**
 * The meaning of an address: a tile, a map composed of tiles, a query to the upstream, or a document about the
 * catalogue.
 */
export type ParsedAddress = (
  | { readonly kind: "tile"; readonly request: TileRequest }
  | PackedTile
  /** A tile that is rendered for this request and not stored. */
  | { readonly kind: "uncached"; readonly request: TileRequest }
  | { readonly kind: "map"; readonly request: MapRequest }
  | { readonly kind: "info"; readonly query: UpstreamQuestion }
  /** The answers to several queries are joined. */
  | { readonly kind: "infos"; readonly queries: readonly [UpstreamQuestion, ...UpstreamQuestion[]] }
  | RequestedDocument
) & {
  /** Headers of the answer that the protocol adds. */
  readonly headers?: Readonly<Record<string, string>>;
};

/** Parses the remaining path and the query. Pure. Never throws, for any input of a client. */
export type Parser = (
  catalogue: Catalogue,
  rest: readonly string[],
  query: Query,
) => Result<ParsedAddress, ProtocolRefusal>;

/** Parses a query without a path. */
export type QueryParser = (catalogue: Catalogue, query: Query) => Result<ParsedAddress, ProtocolRefusal>;

export type RequestedDocument = WholeDocument | CatalogueDocument;

interface DocumentHead {
  readonly kind: "document";
  /** The name of the document, unique for one catalogue and base URL. */
  readonly name: string;
  readonly contentType: string;
  /** The file name with which browsers save the document. */
  readonly fileName?: string;
  /** False if each request writes the document again, because there are too many documents of this kind. */
  readonly isStored?: false;
}

export interface WholeDocument extends DocumentHead {
  readonly write: (baseUrl: string) => string | Uint8Array;
  /** The document as a page, for clients that prefer HTML. */
  readonly page?: WholeDocument;
  /** The document for clients whose Accept is its type alone. */
  readonly strict?: WholeDocument;
}

/** A document that describes all layers. It is written in parts, one for each layer. */
export interface CatalogueDocument extends DocumentHead {
  readonly parts: (baseUrl: string) => Iterable<string>;
}

/** A document that contains a tile. */
export interface PackedTile {
  readonly kind: "packed";
  readonly request: TileRequest;
  readonly contentType: string;
  /** Returns the document. `picture` is undefined if there is no tile. */
  readonly pack: (picture: Uint8Array | undefined, baseUrl: string) => Uint8Array;
}

export const XML_TYPE = "text/xml;charset=UTF-8";

/** The edge of the whole tile matrix from which a protocol counts rows. */
export type RowOrder = "top" | "bottom";

const list = (values: readonly string[]): string => `one of ${values.join(", ")}`;

export const notFound = (message: string): { readonly ok: false; readonly error: Refusal } =>
  refuse({ code: "not_found", message });

export function findLayer(catalogue: Catalogue, name: string): Result<Layer, ProtocolRefusal> {
  const layer = layerNamed(catalogue, name);
  if (layer?.enabled === false) return refuse(disabledLayer(name));
  if (layer !== undefined) return ok(layer);
  return refuse(unknownLayer(name.length > 200 ? shown(name) : name));
}

/** Returns GeoWebCache's exception and sentence. */
const disabledLayer = (name: string): ProtocolRefusal => ({
  code: "layer_disabled",
  message: `Layer '${name}' is disabled`,
  exception: { code: "InvalidParameterValue", locator: "LAYERS" },
});

export function findGrid(layer: Layer, id: string): Result<GridSubset, Refusal> {
  const subset = findSubset(layer, id);
  if (subset !== undefined) return ok(subset);
  return refuse(badField("grid set", list(layer.gridSubsets.map((s) => s.gridSet.id)), id));
}

type Offering = Pick<Layer, "formats">;

const offered = (layer: Offering, format: TileFormat | undefined): TileFormat | undefined =>
  format === undefined ? undefined : layer.formats.find((f) => f.mimeType === format.mimeType);

/** Returns the layer's format with a MIME type. Refuses a format that the layer lacks. */
export function findFormat(layer: Offering, mimeType: string): Result<TileFormat, Refusal> {
  const format = offered(layer, formatOf(mimeType));
  return format === undefined
    ? refuse(badField("format", list(layer.formats.map((f) => f.mimeType)), mimeType))
    : ok(format);
}

/** Returns the layer's format with a MIME type or an extension; without one, the layer's first format. */
export function findRequestedFormat(layer: Offering, requested: string | undefined): Result<TileFormat, Refusal> {
  const [first] = layer.formats;
  if (requested === undefined && first !== undefined) return ok(first);
  const text = requested ?? "";
  return text.includes("/") ? findFormat(layer, text) : findFormatOfExtension(layer, text.toLowerCase());
}

/** Returns the layer's format with the extension in an address. */
export function findFormatOfExtension(layer: Offering, extension: string | undefined): Result<TileFormat, Refusal> {
  const format = extension === undefined ? undefined : offered(layer, formatOfExtension(extension));
  return format === undefined
    ? refuse(badField("extension", list(layer.formats.map((f) => f.extension)), extension ?? ""))
    : ok(format);
}

/** Returns the parameters as the query of a tile's address. Empty for the defaults. */
export function queryOf({ values }: Parameters): string {
  const set = Object.entries(values).filter(([, value]) => value !== "");
  const query = set.map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`).join("&");
  return query === "" ? "" : `?${query}`;
}

/**
 * Returns the zoom of a level by its name (`EPSG:900913:7`), else by its number, unless names are numbers too.
 * Undefined if the text is neither.
 */
export function findLevel({ matrices }: GridSet, text: string): Zoom | undefined {
  const named = matrices.findIndex(({ name }) => name === text);
  if (named >= 0) return asZoom(named);
  return /^\d+$/.test(text) && !matrices.some(({ name }) => /^\d+$/.test(name)) ? asZoom(Number(text)) : undefined;
}

/** The tiles of a level that a layer offers. Rows are counted as in the protocol. */
export interface OfferedRange {
  readonly minColumn: number;
  readonly maxColumn: number;
  readonly minRow: number;
  readonly maxRow: number;
}

export function offeredRange(subset: GridSubset, z: Zoom, rows: RowOrder): OfferedRange | undefined {
  const coverage = coverageAt(subset, z);
  const matrix = subset.gridSet.matrices[z];
  if (coverage === undefined || matrix === undefined) return undefined;
  const top = matrix.matrixHeight - 1;
  return {
    minColumn: coverage.minX,
    maxColumn: coverage.maxX,
    minRow: rows === "top" ? top - coverage.maxY : coverage.minY,
    maxRow: rows === "top" ? top - coverage.minY : coverage.maxY,
  };
}

/** Converts a protocol's row to y from the bottom. */
const yOfRow = (grid: GridSet, z: Zoom, row: number, rows: RowOrder): number =>
  rows === "top" ? (grid.matrices[z]?.matrixHeight ?? 0) - 1 - row : row;

/** Returns the tile of an address. Checks the format first, then the parameters, then the position. */
export function resolveTile(
  { layer, subset }: { readonly layer: Layer; readonly subset: GridSubset },
  format: Result<TileFormat, Refusal>,
  parameters: Result<Parameters, Refusal>,
  at: TilePosition,
): Result<ParsedAddress, ProtocolRefusal> {
  if (!format.ok) return format;
  if (!parameters.ok) return parameters;
  return offeredTile({ layer, subset, format: format.value, parameters: parameters.value }, at);
}

/** The position of a tile as its protocol counts it. */
export interface TilePosition {
  readonly z: Zoom;
  readonly column: number;
  readonly row: number;
  readonly rows: RowOrder;
}

/** Returns the tile of a well-formed address. Refuses a tile that the layer does not offer. */
export function offeredTile(
  parts: Omit<TileRequest, "index">,
  at: TilePosition,
): Result<{ readonly kind: "tile"; readonly request: TileRequest }, ProtocolRefusal> {
  const { subset } = parts;
  const index = asTileIndex({ x: at.column, y: yOfRow(subset.gridSet, at.z, at.row, at.rows), z: at.z });
  const request = { ...parts, index };
  const range = offeredRange(subset, at.z, at.rows);
  if (range === undefined) {
    return refuse({
      code: "outside_coverage",
      outside: { request, why: "outside_levels" },
      message: `The layer has no tiles at this level: it offers levels ${subset.zoomStart} to ${subset.zoomStop} of ${subset.gridSet.id}`,
    });
  }
  const inside =
    at.column >= range.minColumn && at.column <= range.maxColumn && at.row >= range.minRow && at.row <= range.maxRow;
  if (!inside) {
    return refuse({
      code: "outside_coverage",
      outside: { request, why: "outside_coverage" },
      message: `The tile is outside the layer's coverage: level ${at.z} has columns ${range.minColumn} to ${range.maxColumn} and rows ${range.minRow} to ${range.maxRow}, counted from the ${at.rows}`,
    });
  }
  return ok({ kind: "tile", request });
}
