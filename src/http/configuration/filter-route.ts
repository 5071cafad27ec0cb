import { readDocument } from "../../body/document.ts";
import { Fields, Problems } from "../../body/fields.ts";
import { asGridSetName, asZoom, type GridSetName, type Zoom } from "../../grid/grid-set.ts";
import type { FileFilter, RequestFilter } from "../../layer/filter/request-filter.ts";
import { findSubset, type Layer } from "../../layer/layer.ts";
import { errorMessage } from "../../lib/error-code.ts";
import { readZip, type ZipEntry } from "../../lib/file/zip.ts";
import type { Refusal } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { textAnswer } from "../reply.ts";
import {
  administering,
  type Exchange,
  type MaskUpdate,
  type Reply,
  type Route,
  type RouteOptions,
} from "../resource.ts";

const ROOT = "wmsRasterFilterUpdate";
/** The most bytes of all pictures in one archive. */
const MOST_ZIP_BYTES = 64 * 2 ** 20;

const bad = (message: string): { readonly ok: false; readonly error: Refusal } =>
  refuse({ code: "bad_field", message });

/** GeoWebCache's message, with its line break. */
const completed = (): Reply => textAnswer(200, "Filter update completed, no problems encountered.\n");

/** `/rest/filter/NAME/update/TYPE`: reloads the rasters of a request filter (`xml`), or stores new ones (`zip`). */
export function filterRoute(parts: Pick<RouteOptions, "updateMasks">): Route {
  return {
    resourceAt: ([first, second, name, third, type, ...more]) => {
      if (first !== "rest" || second !== "filter" || third !== "update") return undefined;
      if (name === undefined || type === undefined || more.length > 0) return undefined;
      return { methods: { POST: administering((exchange) => update(parts, exchange, name, type)) } };
    },
  };
}

interface Found {
  readonly layer: Layer;
  readonly filter: RequestFilter;
}

async function update(
  parts: Pick<RouteOptions, "updateMasks">,
  exchange: Exchange,
  name: string,
  type: string,
): Promise<Reply> {
  const found = findFilter(exchange.catalogue.layers.values(), name);
  if (found === undefined) return bad(`No filter by the name ${name} was found.`);
  switch (type.toLowerCase()) {
    case "xml":
      return updateByXml(parts, exchange, found);
    case "zip":
      return updateByZip(parts, exchange, found);
    default:
      return bad(`Unknow update type ${type}\n`);
  }
}

/**
 * Returns the first filter with a name: GeoWebCache does not require that filters of different layers have different
 * names.
 */
function findFilter(layers: Iterable<Layer>, name: string): Found | undefined {
  for (const layer of layers) {
    const filter = layer.requestFilters?.find((one) => one.name === name);
    if (filter !== undefined) return { layer, filter };
  }
  return undefined;
}

const unsupported = ({ name }: RequestFilter, gridSet: GridSetName): ReturnType<typeof bad> =>
  bad(`The filter ${name} is associated with a layer that does not support ${gridSet}`);

async function updateByXml(
  parts: Pick<RouteOptions, "updateMasks">,
  exchange: Exchange,
  { layer, filter }: Found,
): Promise<Reply> {
  const decoded = await exchange.body(decodeUpdate);
  if (!decoded.ok) return decoded;
  if (filter.type !== "wms") return bad(`The filter ${filter.name} is not a WMSRasterFilter.`);
  const { gridSet, zoomStart, zoomStop } = decoded.value;
  if (findSubset(layer, gridSet) === undefined) return unsupported(filter, gridSet);
  const updated = await parts.updateMasks({ layer: layer.name, filter: filter.name, gridSet, zoomStart, zoomStop });
  return updated.ok ? completed() : updated;
}

/** Decodes a `wmsRasterFilterUpdate`. Ignores the Content-Type. */
function decodeUpdate(
  body: Uint8Array,
): Result<{ readonly gridSet: GridSetName; readonly zoomStart: Zoom; readonly zoomStop: Zoom }, Refusal> {
  const read = readDocument(body, "xml", `a ${ROOT} document`, [ROOT]);
  if (!read.ok) return read;
  const problems = new Problems();
  const fields = new Fields(read.value, "", ["gridSetId", "zoomStart", "zoomStop"], problems);
  const gridSet = fields.text("gridSetId");
  const zoomStart = fields.integer("zoomStart") ?? 0;
  const zoomStop = fields.integer("zoomStop") ?? 0;
  if (gridSet === undefined) problems.at(read.value, "gridSetId: expected the name of a grid set");
  if (zoomStart < 0 || zoomStop < zoomStart)
    problems.at(read.value, `zoomStop: expected at least zoomStart (${zoomStart}, from 0 on), got ${zoomStop}`);
  return problems.result({
    gridSet: asGridSetName(gridSet ?? ""),
    zoomStart: asZoom(zoomStart),
    zoomStop: asZoom(zoomStop),
  });
}

/** As in GeoWebCache, a body that is not an archive, and an archive for a filter without files, change nothing. */
async function updateByZip(
  parts: Pick<RouteOptions, "updateMasks">,
  exchange: Exchange,
  { layer, filter }: Found,
): Promise<Reply> {
  const entries = await exchange.body(readPictures);
  if (!entries.ok) return entries;
  if (filter.type !== "file") return completed();
  const updates: MaskUpdate[] = [];
  for (const { name, bytes } of entries.value) {
    const place = placeOf(filter, name);
    if (place === undefined)
      return bad(
        `Error updating ${filter.name}: expected files named ${filter.name}_GRIDSET_LEVEL.EXTENSION, got ${JSON.stringify(name.slice(0, 200))}`,
      );
    const { gridSet, z } = place;
    if (findSubset(layer, gridSet) === undefined) return unsupported(filter, gridSet);
    updates.push({ layer: layer.name, filter: filter.name, gridSet, zoomStart: z, zoomStop: z, picture: bytes });
  }
  for (const one of updates) {
    const updated = await parts.updateMasks(one);
    if (!updated.ok) return updated;
  }
  return completed();
}

function readPictures(body: Uint8Array): Result<readonly ZipEntry[], Refusal> {
  try {
    const entries = readZip(body, MOST_ZIP_BYTES) ?? [];
    return entries.some(({ name }) => name.endsWith("/")) ? bad("Zip file cannot contain directories.") : ok(entries);
  } catch (error) {
    return bad(`IOException while reading zip, ${errorMessage(error)}`);
  }
}

/** Returns the grid set and the zoom in a file name. Undefined for a name of another form. */
function placeOf({ name }: FileFilter, file: string): { readonly gridSet: GridSetName; readonly z: Zoom } | undefined {
  const found = /^(.*)_(\d{1,2})\.[^._]+$/s.exec(file);
  const before = found?.[1];
  if (before === undefined) return undefined;
  // A prefix is the filter's name, which may contain an underscore, or, as in GeoWebCache, any name without one.
  const gridSet = before.startsWith(`${name}_`) ? before.slice(name.length + 1) : before.slice(before.indexOf("_") + 1);
  return gridSet === "" || !before.includes("_")
    ? undefined
    : { gridSet: asGridSetName(gridSet), z: asZoom(Number(found?.[2])) };
}
