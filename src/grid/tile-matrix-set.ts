import { isMap } from "../lib/is-map.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import { createGridSet, OGC_PIXEL_METERS, SLACK } from "./create-grid-set.ts";
import { isNorthFirst } from "./crs/axis-order.ts";
import { unitOf } from "./crs/units.ts";
import type { Extent, GridSet } from "./grid-set.ts";

/*
 * OGC Two Dimensional Tile Matrix Set 2.0 (OGC 17-083r4), JSON encoding. Clauses named below are clauses of this
 * standard.
 */

/** Values of the operator that replace values of the document. */
export interface TileMatrixSetNames {
  readonly id?: string;
  readonly title?: string;
}

/** The tolerance for the numbers of these documents. Some documents round to ten digits. */
const ROUNDING = 1e-6;
const MAX_TILE_SIDE = 4096;

const isPositive = (value: unknown): value is number =>
  typeof value === "number" && Number.isFinite(value) && value > 0;

/**
 * Returns the grid set that a document describes. Refuses a document that a grid set cannot represent, with the reason.
 */
export function gridSetOfTileMatrixSet(document: unknown, names: TileMatrixSetNames = {}): Result<GridSet, string> {
  if (!isMap(document)) return refuse("expected a JSON object");
  if (!Array.isArray(document["tileMatrices"]) || document["tileMatrices"].length === 0) {
    const older = "tileMatrix" in document || "supportedCRS" in document;
    return refuse(
      `expected a list tileMatrices${older ? "; this is a document of version 1, version 2.0 is read" : ""}`,
    );
  }
  const id = names.id ?? document["id"];
  if (typeof id !== "string" || id === "") return refuse("the document has no id; set one beside tileMatrixSet");
  const crs = crsOf(document["crs"]);
  if (!crs.ok) return crs;
  const yFirst = isYFirst(document["orderedAxes"], crs.value);
  if (!yFirst.ok) return yFirst;
  const levels: Level[] = [];
  for (const matrix of document["tileMatrices"]) {
    const level = parseMatrix(matrix, yFirst.value);
    if (!level.ok) return level;
    levels.push(level.value);
  }
  levels.sort((a, b) => b.cellSize - a.cellSize);
  const common = commonOf(levels);
  if (!common.ok) return common;
  const extent = extentOf(levels, common.value, boxOf(document["boundingBox"], yFirst.value));
  if (!extent.ok) return extent;
  const { tileWidth, tileHeight, alignTopLeft, metersPerUnit } = common.value;
  const title = names.title ?? document["title"];
  const { srs } = crs.value;
  return createGridSet({
    id,
    ...(typeof title === "string" ? { title } : {}),
    srs,
    extent: extent.value,
    scale: { resolutions: levels.map((level) => level.cellSize) },
    scaleNames: levels.map((level) => level.id),
    tileWidth,
    tileHeight,
    alignTopLeft,
    // CRS84 is announced as EPSG:4326, which has the opposite axis order.
    yCoordinateFirst: crs.value.isCrs84 || yFirst.value,
    // Uses the exact value if it is known, because the document's value is rounded.
    ...(near(unitOf(srs), metersPerUnit) ? {} : { metersPerUnit }),
  });
}

const near = (a: number, b: number): boolean => Math.abs(a - b) <= ROUNDING * Math.max(Math.abs(a), Math.abs(b));

interface Crs {
  readonly srs: number;
  readonly isCrs84: boolean;
}

/** Parses a CRS (clause 6.2.1.1), which is a URI, a safe CURIE, or an object that contains a URI. */
function crsOf(value: unknown): Result<Crs, string> {
  const text = isMap(value) ? value["uri"] : value;
  if (typeof text !== "string") return refuse("crs: expected the URI of a CRS");
  const name = text.trim().replace(/^\[(.*)\]$/, "$1");
  if (/(^|[/:])OGC([/:][\d.]*)?[/:]CRS84$/i.test(name)) return ok({ srs: 4326, isCrs84: true });
  const code = /(?:^|[/:])EPSG(?:[/:][\d.]*)?[/:](\d{1,9})$/i.exec(name)?.[1];
  return code === undefined
    ? refuse(`crs: expected an EPSG code or CRS84, got ${JSON.stringify(text.slice(0, 200))}`)
    : ok({ srs: Number(code), isCrs84: false });
}

const Y_AXES = ["y", "n", "north", "northing", "lat", "latitude"];
const X_AXES = ["x", "e", "east", "easting", "lon", "long", "longitude"];

/**
 * Returns whether points of the document have y before x: by `orderedAxes` if present, else by the definition of the
 * CRS (clause 6.2.1.1).
 */
function isYFirst(axes: unknown, { srs, isCrs84 }: Crs): Result<boolean, string> {
  if (axes === undefined) return ok(!isCrs84 && isNorthFirst(srs) === true);
  const [first, second] = Array.isArray(axes) ? axes.map((axis: unknown) => String(axis).toLowerCase()) : [];
  if (Y_AXES.includes(first ?? "") && X_AXES.includes(second ?? "")) return ok(true);
  if (X_AXES.includes(first ?? "") && Y_AXES.includes(second ?? "")) return ok(false);
  return refuse(`orderedAxes: expected two axes such as ["E", "N"] or ["Lat", "Lon"], got ${JSON.stringify(axes)}`);
}

interface Point {
  readonly x: number;
  readonly y: number;
}

function pointOf(value: unknown, yFirst: boolean): Point | undefined {
  if (!Array.isArray(value) || value.length !== 2) return undefined;
  const [first, second]: readonly unknown[] = value;
  if (typeof first !== "number" || typeof second !== "number") return undefined;
  if (!Number.isFinite(first) || !Number.isFinite(second)) return undefined;
  return yFirst ? { x: second, y: first } : { x: first, y: second };
}

interface Level {
  readonly id: string;
  readonly cellSize: number;
  readonly scaleDenominator: number;
  readonly alignTopLeft: boolean;
  readonly origin: Point;
  readonly tileWidth: number;
  readonly tileHeight: number;
  readonly matrixWidth: number;
  readonly matrixHeight: number;
}

/** Parses a tile matrix (clause 6.2.1.2). */
function parseMatrix(value: unknown, yFirst: boolean): Result<Level, string> {
  if (!isMap(value)) return refuse("tileMatrices: expected objects");
  const { id, cellSize, scaleDenominator, cornerOfOrigin = "topLeft", pointOfOrigin, variableMatrixWidths } = value;
  if (typeof id !== "string" || id === "") return refuse("a tile matrix has no id");
  const wrong = (field: string, expected: string) => refuse(`tile matrix ${JSON.stringify(id)}: ${field}: ${expected}`);
  if (variableMatrixWidths !== undefined && !(Array.isArray(variableMatrixWidths) && variableMatrixWidths.length === 0))
    return wrong("variableMatrixWidths", "rows of tiles of different widths cannot be a grid set here");
  if (!isPositive(cellSize)) return wrong("cellSize", "expected a number above 0");
  if (!isPositive(scaleDenominator)) return wrong("scaleDenominator", "expected a number above 0");
  if (cornerOfOrigin !== "topLeft" && cornerOfOrigin !== "bottomLeft")
    return wrong("cornerOfOrigin", "expected topLeft or bottomLeft");
  const origin = pointOf(pointOfOrigin, yFirst);
  if (origin === undefined) return wrong("pointOfOrigin", "expected two numbers");
  const counts = new Map<string, number>();
  for (const field of ["tileWidth", "tileHeight", "matrixWidth", "matrixHeight"]) {
    const count = value[field];
    const most = field.startsWith("tile") ? MAX_TILE_SIDE : Number.MAX_SAFE_INTEGER;
    if (typeof count !== "number" || !Number.isSafeInteger(count) || count < 1 || count > most)
      return wrong(field, `expected a whole number from 1 to ${most}`);
    counts.set(field, count);
  }
  const count = (field: string): number => counts.get(field) ?? 1;
  return ok({
    id,
    cellSize,
    scaleDenominator,
    alignTopLeft: cornerOfOrigin === "topLeft",
    origin,
    tileWidth: count("tileWidth"),
    tileHeight: count("tileHeight"),
    matrixWidth: count("matrixWidth"),
    matrixHeight: count("matrixHeight"),
  });
}

type Common = Pick<Level, "alignTopLeft" | "origin" | "tileWidth" | "tileHeight"> & { readonly metersPerUnit: number };

/** Returns the values that all levels of a grid set share. Refuses levels that differ in such a value. */
function commonOf(levels: readonly Level[]): Result<Common, string> {
  const [first] = levels;
  const finest = levels.at(-1);
  if (first === undefined || finest === undefined) return refuse("there is no tile matrix");
  const metersPerUnit = (first.scaleDenominator * OGC_PIXEL_METERS) / first.cellSize;
  for (const level of levels) {
    const differs = (field: string) =>
      refuse(`tile matrix ${JSON.stringify(level.id)}: ${field}: all levels of a grid set have the same`);
    if (level.tileWidth !== first.tileWidth || level.tileHeight !== first.tileHeight)
      return differs("tileWidth, tileHeight");
    if (level.alignTopLeft !== first.alignTopLeft) return differs("cornerOfOrigin");
    const off = Math.max(Math.abs(level.origin.x - first.origin.x), Math.abs(level.origin.y - first.origin.y));
    if (off > finest.cellSize * SLACK) return differs("pointOfOrigin");
    if (!near((level.scaleDenominator * OGC_PIXEL_METERS) / level.cellSize, metersPerUnit))
      return refuse(
        `tile matrix ${JSON.stringify(level.id)}: scaleDenominator and cellSize do not have the ratio of the other levels`,
      );
  }
  const { alignTopLeft, origin, tileWidth, tileHeight } = first;
  return ok({ alignTopLeft, origin, tileWidth, tileHeight, metersPerUnit });
}

/**
 * Returns an extent for which every level has as many tiles as the document says. Prefers the document's bounding box.
 * If that does not fit, returns the largest extent that the tiles of every level cover or, if that does not fit either,
 * an extent between the limits.
 */
function extentOf(levels: readonly Level[], common: Common, box: Extent | undefined): Result<Extent, string> {
  const { origin, alignTopLeft } = common;
  const across = levels.map((level) => ({ count: level.matrixWidth, tile: level.tileWidth * level.cellSize }));
  const up = levels.map((level) => ({ count: level.matrixHeight, tile: level.tileHeight * level.cellSize }));
  const width = lengthOf(across, box === undefined ? undefined : box.maxX - origin.x);
  const height = lengthOf(up, box === undefined ? undefined : alignTopLeft ? origin.y - box.minY : box.maxY - origin.y);
  if (width === undefined || height === undefined) {
    const field = width === undefined ? "matrixWidth" : "matrixHeight";
    return refuse(`${field}: the levels do not cover the same extent, as the levels of a grid set must`);
  }
  const { x, y } = origin;
  return ok({
    minX: x,
    maxX: x + width,
    ...(alignTopLeft ? { minY: y - height, maxY: y } : { minY: y, maxY: y + height }),
  });
}

/** Returns a length that makes `count` tiles on each level. Undefined if there is no such length. */
function lengthOf(
  levels: readonly { readonly count: number; readonly tile: number }[],
  wished: number | undefined,
): number | undefined {
  const above = Math.max(...levels.map(({ count, tile }) => (count - 1 + SLACK) * tile));
  const upTo = Math.min(...levels.map(({ count, tile }) => (count + SLACK) * tile));
  const whole = Math.min(...levels.map(({ count, tile }) => count * tile));
  return [wished, whole, (above + upTo) / 2].find((length) => length !== undefined && length > above && length < upTo);
}

/**
 * Parses a bounding box (clause 6.2.1.3). The box's `orderedAxes` override the document's. Undefined if the value is
 * not a bounding box.
 */
function boxOf(value: unknown, yFirst: boolean): Extent | undefined {
  if (!isMap(value)) return undefined;
  const crs = value["crs"] === undefined ? undefined : crsOf(value["crs"]);
  const axes =
    value["orderedAxes"] === undefined || crs?.ok !== true ? undefined : isYFirst(value["orderedAxes"], crs.value);
  const isOwn = axes?.ok === true ? axes.value : yFirst;
  const lower = pointOf(value["lowerLeft"], isOwn);
  const upper = pointOf(value["upperRight"], isOwn);
  if (lower === undefined || upper === undefined) return undefined;
  return { minX: lower.x, minY: lower.y, maxX: upper.x, maxY: upper.y };
}
