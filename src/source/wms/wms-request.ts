import { isYFirst } from "../../grid/crs/axis-order.ts";
import { canonicalSrs, sameSrs } from "../../grid/grid-set.ts";
import type { WmsSourceOptions } from "../../layer/source-options.ts";
import { decimal, setParameters, withQuery } from "../http/query.ts";
import type { FeatureInfoRequest, LegendRequest, MaskRequest, Question, RenderRequest } from "../source.ts";

/** The placeholder of the BBOX in a prepared address. No configuration contains this text. */
const BOX_MARK = "nuthatch-bbox-0-6021-4c1e";

/**
 * Writes the GetMap requests of a source. Successive requests mostly differ only in their BBOX. The other parts of the
 * address take longer to write than a small tile takes to send, so they are reused until they change.
 */
export class WmsAddresses {
  readonly #options: WmsSourceOptions;
  #like: (Omit<RenderRequest, "extent" | "tile"> & { readonly address: string }) | undefined;
  /** The parts of the address of `#like` before and after its BBOX. Undefined if the configured address has a BBOX. */
  #written: readonly [before: string, after: string] | undefined;

  constructor(options: WmsSourceOptions) {
    this.#options = options;
  }

  picture(address: string, request: RenderRequest): URL {
    const { gridSet, width, height, format, modifier, parameters } = request;
    const like = this.#like;
    if (
      like === undefined ||
      like.address !== address ||
      like.gridSet !== gridSet ||
      like.width !== width ||
      like.height !== height ||
      like.format !== format ||
      like.modifier !== modifier ||
      !isSame(like.parameters, parameters)
    ) {
      this.#like = { address, gridSet, width, height, format, modifier, parameters };
      const { href } = wmsUrl(address, this.#options, request, BOX_MARK);
      const [before, after, more] = href.split(BOX_MARK);
      this.#written = before === undefined || after === undefined || more !== undefined ? undefined : [before, after];
    }
    if (this.#written === undefined) return wmsUrl(address, this.#options, request);
    const [before, after] = this.#written;
    return new URL(before + encodeURIComponent(boxOf(this.#options, request)) + after);
  }
}

function isSame(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

/** Returns the BBOX in the axis order of the WMS version. */
function boxOf({ version }: WmsSourceOptions, { gridSet, extent }: Pick<RenderRequest, "gridSet" | "extent">): string {
  const { minX, minY, maxX, maxY } = extent;
  const box = version === "1.3.0" && isYFirst(gridSet) ? [minY, minX, maxY, maxX] : [minX, minY, maxX, maxY];
  return box.map(decimal).join(",");
}

/**
 * Returns the GetMap of a picture.
 * @param box replaces the BBOX of the request
 */
export function wmsUrl(
  address: string,
  options: WmsSourceOptions,
  request: RenderRequest,
  box = boxOf(options, request),
): URL {
  const { format, modifier = { format: format.mimeType } } = request;
  const { requestFormat = format.upstreamType, transparent = options.transparent } = modifier;
  return urlOf(address, options, request, box, {
    REQUEST: "GetMap",
    FORMAT: requestFormat,
    // MapServer renders a JPEG with TRANSPARENT=TRUE on black.
    TRANSPARENT: transparent && requestFormat !== "image/jpeg" ? "TRUE" : "FALSE",
    ...setParameters({
      BGCOLOR: modifier.bgColor ?? options.bgColor ?? "",
      PALETTE: modifier.palette ?? options.palette ?? "",
    }),
  });
}

export function questionUrl(address: string, options: WmsSourceOptions, question: Question): URL {
  switch (question.kind) {
    case "feature_info":
      return featureInfoUrl(address, options, question);
    case "legend":
      return legendUrl(address, options, question);
    case "mask":
      return maskUrl(address, options, question);
  }
}

/**
 * Returns the GetMap request for the raster of a request filter, with GeoWebCache's parameters. Antialiasing is off, so
 * that each pixel has the exact colour of one shape.
 */
function maskUrl(address: string, options: WmsSourceOptions, request: MaskRequest): URL {
  const { filter } = request;
  const { layers = options.layers, styles = [] } = filter.type === "wms" ? filter : {};
  const plain = { ...request, parameters: {} };
  return urlOf(address, options, plain, boxOf(options, request), {
    REQUEST: "GetMap",
    LAYERS: layers.join(","),
    STYLES: styles.join(","),
    FORMAT: "image/tiff",
    TRANSPARENT: "FALSE",
    BGCOLOR: "0xFFFFFF",
    FORMAT_OPTIONS: "antialias:none",
  });
}

/**
 * Returns the GetLegendGraphic of a style (OGC 05-078r4, 12.2). The standard allows one layer; GeoServer accepts a
 * list.
 */
function legendUrl(address: string, options: WmsSourceOptions, { style, format, options: more }: LegendRequest): URL {
  return withQuery(address, {
    SERVICE: "WMS",
    VERSION: options.version,
    REQUEST: "GetLegendGraphic",
    LAYER: options.layers.join(","),
    STYLE: style === "" ? (options.styles[0] ?? "") : style,
    FORMAT: format,
    // Required by the standard, and by MapServer.
    ...(options.version === "1.3.0" ? { SLD_VERSION: "1.1.0" } : {}),
    ...more,
    ...Object.fromEntries(Object.entries(options.vendorParameters).map(([key, value]) => [key.toUpperCase(), value])),
  });
}

/** Returns the GetFeatureInfo of a pixel (WMS 1.1.1, 7.3; 1.3.0, 7.4). */
function featureInfoUrl(address: string, options: WmsSourceOptions, request: FeatureInfoRequest): URL {
  const [x, y] = options.version === "1.3.0" ? ["I", "J"] : ["X", "Y"];
  return urlOf(address, options, request, boxOf(options, request), {
    REQUEST: "GetFeatureInfo",
    FORMAT: "image/png",
    QUERY_LAYERS: (options.queryLayers ?? options.layers).join(","),
    INFO_FORMAT: request.infoFormat,
    [x ?? "X"]: String(request.i),
    [y ?? "Y"]: String(request.j),
    ...(request.featureCount === undefined ? {} : { FEATURE_COUNT: String(request.featureCount) }),
  });
}

/**
 * Returns the name of a CRS in requests. A name configured for one code of web mercator applies to its other codes too.
 */
export function crsName(
  { version, crsNames = {} }: Pick<WmsSourceOptions, "version" | "crsNames">,
  srs: number,
): string {
  const own = crsNames[`EPSG:${srs}`];
  if (own !== undefined) return own;
  const same = Object.keys(crsNames).find((key) => sameSrs(Number(key.slice("EPSG:".length)), srs));
  return (same === undefined ? undefined : crsNames[same]) ?? `EPSG:${version === "1.3.0" ? canonicalSrs(srs) : srs}`;
}

/**
 * Returns an address with parameters. They replace parameters of the configured address that are equal but for case.
 */
function urlOf(
  address: string,
  options: WmsSourceOptions,
  request: Pick<RenderRequest, "gridSet" | "width" | "height" | "parameters">,
  box: string,
  own: Readonly<Record<string, string>>,
): URL {
  const { gridSet, width, height, parameters } = request;
  const is13 = options.version === "1.3.0";
  const wanted: Record<string, string> = {
    SERVICE: "WMS",
    VERSION: options.version,
    LAYERS: options.layers.join(","),
    STYLES: options.styles.join(","),
    ...own,
    EXCEPTIONS: is13 ? "XML" : "application/vnd.ogc.se_xml",
    [is13 ? "CRS" : "SRS"]: crsName(options, gridSet.srs),
    BBOX: box,
    WIDTH: String(width),
    HEIGHT: String(height),
  };
  for (const [key, value] of Object.entries(options.vendorParameters)) wanted[key.toUpperCase()] = value;
  for (const [key, value] of Object.entries(setParameters(parameters))) wanted[key.toUpperCase()] = value;
  return withQuery(address, wanted);
}
