import * as z from "zod";
import type { RequestFilter } from "../../layer/filter/request-filter.ts";
import { repeats } from "../../lib/repeats.ts";
import {
  expected,
  flag,
  hasControlCharacter,
  kinds,
  list,
  map,
  optional,
  someOf,
  text,
  unlessUnfit,
  whole,
  wrong,
} from "./fields.ts";

/** The name of a filter, which is also a part of file names. */
const filterName = text
  .refine(
    (name) => !hasControlCharacter(name) && !/[/\\]/.test(name) && name.trim() === name,
    unlessUnfit("a name without slashes and control characters"),
  )
  .describe("The name of the filter.");

/** The keys of both kinds of filters with rasters. */
export const RasterSchema = map({
  name: filterName,
  zoomStart: whole(0, 63).default(0).describe("The first level with a raster."),
  zoomStop: whole(0, 63).describe("The last level with a raster. Its raster also applies to finer levels."),
  resample: flag.default(false).describe("The first raster also applies to coarser levels."),
  preload: flag.default(false).describe("Load the rasters at the start."),
  debug: flag.default(false).describe("Answer a refused request with a green tile."),
});

export const CircleFilterSchema = map({
  type: z.literal("circle").describe("Serves only the tiles in a circle around the middle of each level's coverage."),
  name: filterName,
});

export const FileFilterSchema = map({
  type: z.literal("file").describe("Serves only the tiles where rasters from files have data."),
  ...RasterSchema.shape,
  directory: text.describe(
    "The directory of the files NAME_GRIDSET_LEVEL.EXTENSION. A relative path begins at the directory of the file.",
  ),
  extension: text
    .refine((given) => /^\w+$/.test(given), unlessUnfit("an extension without a dot"))
    .describe("The extension of the files."),
});

export const WmsFilterSchema = map({
  type: z.literal("wms").describe("Serves only the tiles where rasters from the source have data."),
  ...RasterSchema.shape,
  layers: optional(someOf(text)).describe("The layers of the rasters. Default: the layers of the source."),
  styles: optional(list(z.string("a text"))).describe("The styles of the rasters."),
  timeoutSeconds: whole(1, 3600).default(120).describe("The time limit of the request for one raster."),
});

const RequestFilterSchema = kinds([CircleFilterSchema, FileFilterSchema, WmsFilterSchema]);

export const RequestFiltersSchema = someOf(RequestFilterSchema).superRefine((filters, context) => {
  const repeated = repeats(filters, ({ name }) => name);
  for (const [i, filter] of filters.entries()) {
    if (repeated.has(i)) wrong(context, [i, "name"], `two request filters are called ${JSON.stringify(filter.name)}`);
    if (filter.type !== "circle" && filter.zoomStart > filter.zoomStop)
      expected(context, [i, "zoomStart"], `at most zoomStop (${filter.zoomStop})`);
  }
});

/** Checks that the source can render the rasters of filters of type wms. */
export function checkRequestFilters(
  {
    source,
    requestFilters = [],
  }: { readonly source: { readonly type: string }; readonly requestFilters?: readonly Pick<RequestFilter, "type">[] },
  context: z.RefinementCtx,
): void {
  for (const [i, { type }] of requestFilters.entries())
    if (type === "wms" && source.type !== "wms")
      wrong(context, ["requestFilters", i, "type"], "a filter of type wms needs a source of type wms");
}
