import { asZoom, type Zoom } from "../../../grid/grid-set.ts";
import type { Catalogue } from "../../../layer/catalogue.ts";
import { parseParameters } from "../../../layer/filter/parameter-filter.ts";
import { WEB_GRID, webSubset } from "../../../layer/layer.ts";
import { badField, type Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import type { Query } from "../../query.ts";
import { splitExtension, wholeNumber } from "../address.ts";
import {
  findFormat,
  findFormatOfExtension,
  findLayer,
  notFound,
  type ParsedAddress,
  resolveTile,
} from "../tile-parts.ts";

/** Returns a tile of the grid set of most web maps, y from the top. `format` is a MIME type or an extension. */
function webTile(
  catalogue: Catalogue,
  name: string,
  format: { readonly mimeType: string } | { readonly extension: string | undefined },
  { z, column, row }: { readonly z: Zoom; readonly column: number; readonly row: number },
  query: Query,
): Result<ParsedAddress, Refusal> {
  const layer = findLayer(catalogue, name);
  if (!layer.ok) return layer;
  const subset = webSubset(layer.value);
  if (subset === undefined) return notFound(`The layer has no ${WEB_GRID}`);
  return resolveTile(
    { layer: layer.value, subset },
    "mimeType" in format
      ? findFormat(layer.value, format.mimeType)
      : findFormatOfExtension(layer.value, format.extension),
    parseParameters(layer.value.parameterFilters, query, "ignore"),
    { z, column, row, rows: "top" },
  );
}

/**
 * Applies GeoWebCache's `cached=false` to a tile, if the layer permits it. Ignores `metatiled`: the tile is rendered
 * alone.
 */
function pastTheCache(tile: Result<ParsedAddress, Refusal>, query: Query): Result<ParsedAddress, Refusal> {
  const cached = query.get("CACHED");
  if (!tile.ok || tile.value.kind !== "tile" || cached === undefined || cached.toLowerCase() === "true") return tile;
  const { request } = tile.value;
  if (request.layer.cacheBypassAllowed === true) return ok({ kind: "uncached", request });
  const message = `Layer ${request.layer.name} is not configured to allow bypassing the cache.`;
  return refuse({ code: "bad_field", message });
}

/** Parses a quadkey: one digit per level, with a bit of y and then a bit of x (Bing Maps Tile System). */
function parseKey(field: string, key: string): Result<{ z: Zoom; column: number; row: number }, Refusal> {
  if (!/^[0-3]{1,31}$/.test(key)) return refuse(badField(field, "1 to 31 digits from 0 to 3", key));
  let [column, row] = [0, 0];
  for (const digit of key) {
    column = column * 2 + (Number(digit) & 1);
    row = row * 2 + (Number(digit) >> 1);
  }
  return ok({ z: asZoom(key.length), column, row });
}

/** Parses `{layer}/{quadkey}.{ext}`. `rest` is the path after `/quadkey`. */
export function parseQuadkey(
  catalogue: Catalogue,
  rest: readonly string[],
  query: Query,
): Result<ParsedAddress, Refusal> {
  const [name, last] = rest;
  if (name === undefined || last === undefined || rest.length !== 2)
    return notFound("A quadkey address is /quadkey/{layer}/{quadkey}.{ext}");
  const { stem, extension } = splitExtension(last);
  const at = parseKey("quadkey", stem);
  return at.ok ? webTile(catalogue, name, { extension }, at.value, query) : at;
}

/** Parses GWC's `/service/ve` (`docs/explanation/geowebcache.md`, Tile services): `layers`, `quadkey`, `format`. */
export function parseVe(catalogue: Catalogue, query: Query): Result<ParsedAddress, Refusal> {
  const at = parseKey("quadkey", query.get("QUADKEY") ?? "");
  if (!at.ok) return at;
  const format = { mimeType: query.get("FORMAT") ?? "image/png" };
  return pastTheCache(webTile(catalogue, query.get("LAYERS") ?? "", format, at.value, query), query);
}

/** The highest zoom of `/service/mgmaps`, which counts down from it. */
const MOBILE_TOP = 17;

/** Parses GWC's `/service/gmaps` and `/service/mgmaps`: `layers`, `zoom`, `x`, `y`, `format`. */
export function parseGmaps(catalogue: Catalogue, query: Query, zooms: "up" | "down"): Result<ParsedAddress, Refusal> {
  const zoom = wholeNumber("zoom", query.get("ZOOM") ?? "");
  if (!zoom.ok) return zoom;
  if (zooms === "down" && zoom.value > MOBILE_TOP)
    return refuse(badField("zoom", `0 to ${MOBILE_TOP}`, String(zoom.value)));
  const x = wholeNumber("x", query.get("X") ?? "");
  if (!x.ok) return x;
  const y = wholeNumber("y", query.get("Y") ?? "");
  if (!y.ok) return y;
  const tile = webTile(
    catalogue,
    query.get("LAYERS") ?? "",
    { mimeType: query.get("FORMAT") ?? "image/png" },
    { z: asZoom(zooms === "down" ? MOBILE_TOP - zoom.value : zoom.value), column: x.value, row: y.value },
    query,
  );
  return pastTheCache(tile, query);
}
