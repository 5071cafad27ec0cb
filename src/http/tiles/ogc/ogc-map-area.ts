import { isNorthFirst } from "../../../grid/crs/axis-order.ts";
import { transformBetween } from "../../../grid/crs/coordinate-systems.ts";
import { canonicalSrs, type Extent, sameSrs } from "../../../grid/grid-set.ts";
import { badField, type FieldRefusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import type { Query } from "../../request/query.ts";

/*
 * The area of a map of OGC API - Maps - Part 1 (OGC 20-058): its CRS, and the parameters `bbox`, `subset` and `center`.
 */

/** A CRS in a request. */
export interface RequestedCrs {
  /** EPSG code. */
  readonly srs: number;
  /** Whether positions in requests have y before x. */
  readonly isYFirst: boolean;
  readonly uri: string;
}

export const CRS84: RequestedCrs = {
  srs: 4326,
  isYFirst: false,
  uri: "http://www.opengis.net/def/crs/OGC/1.3/CRS84",
};

/** Returns a CRS of the EPSG register with the order of its axes there. */
export const epsgCrs = (srs: number): RequestedCrs => ({
  srs,
  isYFirst: isNorthFirst(srs) === true,
  uri: `http://www.opengis.net/def/crs/EPSG/0/${canonicalSrs(srs)}`,
});

/** Parses the URI of a CRS, or its name as in `[EPSG:3857]`. `key` names the parameter. Default: CRS84. */
export function parseCrsName(query: Query, key: string): Result<RequestedCrs, FieldRefusal> {
  const text = query.get(key.toUpperCase());
  if (text === undefined || text === "") return ok(CRS84);
  if (/^(?:https?:\/\/www\.opengis\.net\/def\/crs\/OGC\/[\d.]+\/CRS84|\[?OGC:CRS84\]?)$/i.test(text)) return ok(CRS84);
  const [, ofUri, ofName] =
    /^(?:https?:\/\/www\.opengis\.net\/def\/crs\/EPSG\/[\w.]+\/(\d{1,9})|\[?EPSG:(\d{1,9})\]?)$/i.exec(text) ?? [];
  const code = ofUri ?? ofName;
  return code === undefined
    ? refuse(badField(key, "a CRS such as http://www.opengis.net/def/crs/EPSG/0/3857 or [OGC:CRS84]", text))
    : ok(epsgCrs(Number(code)));
}

/** A box in a CRS, or a point that is the centre of the map. */
export type RequestedArea =
  | { readonly kind: "box"; readonly box: Extent; readonly crs: RequestedCrs }
  | { readonly kind: "centre"; readonly x: number; readonly y: number; readonly crs: RequestedCrs }
  | { readonly kind: "whole" };

/** Parses the area of a map. `extentIn` returns the layer's extent in a CRS; undefined if it cannot be converted. */
export function parseArea(
  query: Query,
  extentIn: (srs: number) => Extent | undefined,
): Result<RequestedArea, FieldRefusal> {
  const given = ["BBOX", "SUBSET", "CENTER"].filter((key) => query.has(key));
  if (given.length > 1)
    return refuse(badField(given.join(", ").toLowerCase(), "one of bbox, subset and center", given.join(", ")));
  switch (given[0]) {
    case "BBOX":
      return parseBox(query);
    case "SUBSET":
      return parseSubset(query, extentIn);
    case "CENTER":
      return parseCentre(query);
    default:
      return ok({ kind: "whole" });
  }
}

/** Parses numbers with commas between them. Undefined if there are not `count` numbers. */
function numbersIn(text: string, count: number): readonly number[] | undefined {
  const numbers = text.split(",").map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  return numbers.length === count && numbers.every(Number.isFinite) ? numbers : undefined;
}

function parseBox(query: Query): Result<RequestedArea, FieldRefusal> {
  const crs = parseCrsName(query, "bbox-crs");
  if (!crs.ok) return crs;
  const text = query.get("BBOX") ?? "";
  const [a = 0, b = 0, c = 0, d = 0] = numbersIn(text, 4) ?? [];
  const box = crs.value.isYFirst ? { minX: b, minY: a, maxX: d, maxY: c } : { minX: a, minY: b, maxX: c, maxY: d };
  if (box.minX < box.maxX && box.minY < box.maxY) return ok({ kind: "box", box, crs: crs.value });
  return refuse(badField("bbox", "four numbers in the order of the axes of bbox-crs, minima below maxima", text));
}

/** The names of axes in `subset`, in lower case. */
const X_AXES: ReadonlySet<string> = new Set(["lon", "long", "e", "x"]);
const Y_AXES: ReadonlySet<string> = new Set(["lat", "n", "y"]);

function parseSubset(query: Query, extentIn: (srs: number) => Extent | undefined): Result<RequestedArea, FieldRefusal> {
  const crs = parseCrsName(query, "subset-crs");
  if (!crs.ok) return crs;
  const text = query.get("SUBSET") ?? "";
  const wrong = refuse(badField("subset", "ranges of axes such as Lon(-10:10),Lat(40:50)", text));
  const whole = extentIn(crs.value.srs);
  if (whole === undefined) return wrong;
  let box = whole;
  for (const part of text.split(/,(?=[A-Za-z])/)) {
    const [, axis = "", from = "", to = ""] =
      /^([A-Za-z]{1,10})\(([^:()]{1,40}):([^:()]{1,40})\)$/.exec(part.trim()) ?? [];
    const isX = X_AXES.has(axis.toLowerCase());
    if (!isX && !Y_AXES.has(axis.toLowerCase())) return wrong;
    const least = from === "*" ? (isX ? whole.minX : whole.minY) : Number(from);
    const most = to === "*" ? (isX ? whole.maxX : whole.maxY) : Number(to);
    if (!(Number.isFinite(least) && Number.isFinite(most) && least < most)) return wrong;
    box = isX ? { ...box, minX: least, maxX: most } : { ...box, minY: least, maxY: most };
  }
  return ok({ kind: "box", box, crs: crs.value });
}

function parseCentre(query: Query): Result<RequestedArea, FieldRefusal> {
  const crs = parseCrsName(query, "center-crs");
  if (!crs.ok) return crs;
  const text = query.get("CENTER") ?? "";
  const numbers = numbersIn(text, 2);
  if (numbers === undefined)
    return refuse(badField("center", "two numbers in the order of the axes of center-crs", text));
  const [a = 0, b = 0] = numbers;
  const [x, y] = crs.value.isYFirst ? [b, a] : [a, b];
  return ok({ kind: "centre", x, y, crs: crs.value });
}

/** The number of parts of each edge whose ends are converted. */
const PARTS = 16;

/** Returns the box around a box in another CRS. Undefined if a CRS is unknown, or a point is not in its area. */
export function boxIn(from: number, to: number, box: Extent): Extent | undefined {
  if (sameSrs(from, to)) return box;
  const convert = transformBetween(from, to);
  if (convert === undefined) return undefined;
  const points = Array.from({ length: PARTS + 1 }, (_, i) => i / PARTS).flatMap((share) => {
    const x = box.minX + share * (box.maxX - box.minX);
    const y = box.minY + share * (box.maxY - box.minY);
    return [convert(x, box.minY), convert(x, box.maxY), convert(box.minX, y), convert(box.maxX, y)];
  });
  if (!points.flat().every(Number.isFinite)) return undefined;
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  return { minX: Math.min(...xs), minY: Math.min(...ys), maxX: Math.max(...xs), maxY: Math.max(...ys) };
}
