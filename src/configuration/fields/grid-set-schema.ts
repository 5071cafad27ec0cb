import type * as z from "zod";
import {
  anyNumber,
  anyText,
  either,
  expected,
  extent,
  flag,
  list,
  map,
  number,
  optional,
  pair,
  someOf,
  text,
  whole,
  wrong,
} from "./fields.ts";

/** The code of a CRS. */
const crs = either("a text or a whole number from 1 to 999999", [anyText, whole(1, 999_999)]).transform(
  (given, context) => {
    if (typeof given === "number") return given;
    const digits = /^(?:EPSG:)?([1-9]\d{0,5})$/i.exec(given.trim())?.[1];
    if (digits === undefined) expected(context, [], "EPSG:NUMBER");
    return Number(digits);
  },
);

export const GridSetSchema = map({
  id: optional(text).describe("The name of the grid set. A built-in grid set of this name is replaced."),
  title: optional(anyText).describe("The title in capabilities."),
  tileMatrixSet: optional(text).describe("A file with an OGC TileMatrixSet 2.0 document."),
  srs: optional(crs).describe("The CRS, as EPSG:NUMBER."),
  extent: optional(extent).describe("minx, miny, maxx, maxy in units of the CRS."),
  resolutions: optional(someOf(anyNumber)).describe("Units of the CRS per pixel, one for each level."),
  scaleDenominators: optional(someOf(anyNumber)).describe("Scale denominators, one for each level."),
  levels: optional(whole(1, 64)).describe(
    "The number of levels, each with half the units per pixel of the level before. Default: 18.",
  ),
  scaleNames: optional(list(text)).describe("The names of the levels."),
  metersPerUnit: optional(number({ above: 0 })).describe(
    "The length of a unit of the CRS in metres. Default: the definition of EPSG.",
  ),
  pixelSize: optional(number({ above: 0 })).describe(
    "The size of a pixel in metres that scaleDenominators assume. Default: 0.00028.",
  ),
  tileSize: optional(pair(whole(1, 4096))).describe("Width and height of a tile in pixels. Default: 256, 256."),
  alignTopLeft: optional(flag).describe("Rows are aligned with the top of the extent."),
  yCoordinateFirst: optional(flag).describe("The axis order in WMTS capabilities. Default: the order of EPSG."),
}).superRefine((document, context) => {
  const { tileMatrixSet, resolutions, scaleDenominators, levels } = document;
  if (tileMatrixSet !== undefined) {
    for (const key of Object.keys(document))
      if (!["tileMatrixSet", "id", "title"].includes(key))
        wrong(context, [key], "is defined by the document of tileMatrixSet; only id and title can be given", "key");
    return;
  }
  for (const key of ["id", "srs", "extent"] as const)
    if (document[key] === undefined) wrong(context, [], `${key} is missing`);
  if ([resolutions, scaleDenominators, levels].filter((one) => one !== undefined).length > 1)
    wrong(context, [], "only one of resolutions, scaleDenominators and levels can be given");
});

export type GridSetDocument = z.output<typeof GridSetSchema>;
