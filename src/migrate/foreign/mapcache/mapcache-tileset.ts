import { formatOf } from "../../../layer/format.ts";
import { defined } from "../../../lib/defined.ts";
import { type Content, isMap } from "../../../lib/is-map.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import type { ForeignObject } from "../foreign-object.ts";
import { placed } from "../origins.ts";
import { UpstreamHeaders, upstreamUrl, WrittenParameters } from "../upstream.ts";

/** Parameters of WMS requests for which the configuration has keys. */
const OWN_PARAMETERS = ["FORMAT", "LAYERS", "STYLES", "TRANSPARENT", "VERSION", "BGCOLOR"];
/** Parameters that every request of a WMS source has. */
const SET_PARAMETERS = ["SERVICE", "REQUEST", "SRS", "CRS", "BBOX", "WIDTH", "HEIGHT"];

export interface MapCacheSource {
  readonly content: Content;
  readonly queryable: boolean;
  /** The format that is requested from the upstream. */
  readonly format: string;
  /** The CRS of all requests in place of the grid's CRS. Undefined if it is the grid's. */
  readonly srs: string | undefined;
}

/** Returns a source of MapCache, or why it cannot be used. */
export function mapCacheSource(
  source: ForeignObject,
  name: string,
  variables: Set<string>,
): Result<MapCacheSource, string> {
  const type = source.text("@type") ?? "";
  if (type !== "wms") {
    source.kept("@type", "only sources of the type wms have an equivalent");
    return refuse(`the source ${name} is of the type ${type}`);
  }
  const given = source.look("getmap.params");
  const parameters = isMap(given) ? given : {};
  const parameter = (key: string): string | undefined => {
    const found = Object.keys(parameters).find((one) => one.toUpperCase() === key);
    return found === undefined ? undefined : source.text(["getmap", "params", found]);
  };
  const vendor = Object.keys(parameters)
    .filter((key) => ![...OWN_PARAMETERS, ...SET_PARAMETERS].includes(key.toUpperCase()))
    .map((key): [string, string] => [key.toUpperCase(), source.text(["getmap", "params", key]) ?? ""]);
  // MapCache also sends the parameters of the address. A parameter of the file overrides a parameter of the address.
  const address = new WrittenParameters(source.text("http.url") ?? "");
  const upstream = upstreamUrl(address.url, name, variables);
  if (upstream.password !== undefined) source.differently("http.url", "the password is in a variable");
  const headers = new UpstreamHeaders(variables).of(source, name, upstream.username !== undefined);
  source.kept("http.connection_timeout", "timeoutSeconds is the limit of the whole request");
  if (parameter("FORMAT") !== undefined)
    source.differently(["getmap", "params", "FORMAT"], "the upstream is asked for the format of the tiles");
  for (const key of Object.keys(parameters))
    if (SET_PARAMETERS.includes(key.toUpperCase()))
      source.kept(["getmap", "params", key], "each request has the value of its map");
  const styles = parameter("STYLES")?.split(",") ?? address.list("STYLES");
  const transparent = parameter("TRANSPARENT") ?? address.get("TRANSPARENT");
  return ok({
    format: parameter("FORMAT") ?? "image/png",
    srs: parameter("SRS")?.toUpperCase(),
    content: defined({
      type: "wms",
      ...upstream,
      version: parameter("VERSION") === "1.3.0" ? "1.3.0" : undefined,
      layers: parameter("LAYERS")?.split(",") ?? address.list("LAYERS"),
      styles: styles?.some((style) => style !== "") === true ? styles : undefined,
      transparent: transparent?.toLowerCase() === "true",
      bgColor: parameter("BGCOLOR") ?? address.get("BGCOLOR"),
      timeoutSeconds: source.number("http.timeout"),
      headers,
      vendorParameters: vendor.length === 0 ? undefined : Object.fromEntries(vendor),
    }),
    queryable: source.value("getfeatureinfo") !== undefined,
  });
}

/** The format of a tileset. */
export interface MapCacheFormat {
  readonly mimeType: string;
  /** The file extension. */
  readonly extension: string;
  readonly quality: number | undefined;
}

const JPEG_QUALITY = 90;
const STANDARD: MapCacheFormat = { mimeType: "image/png", extension: "png", quality: undefined };
const BUILT_IN: Readonly<Record<string, MapCacheFormat>> = {
  PNG: STANDARD,
  PNG8: { ...STANDARD, mimeType: "image/png8" },
  JPEG: { mimeType: "image/jpeg", extension: "jpg", quality: JPEG_QUALITY },
  mixed: { mimeType: "image/vnd.jpeg-png", extension: "xxx", quality: JPEG_QUALITY },
};

/** Returns the format of a tileset that names none: MapCache stores the source's format, in files named `.png`. */
export function mapCacheSourceFormat(asked: string): MapCacheFormat {
  const plain = asked.split(";")[0]?.trim().toLowerCase() ?? "";
  const format = formatOf(plain === "image/jpg" ? "image/jpeg" : plain);
  return format?.kind === "image" ? { ...STANDARD, mimeType: format.mimeType } : STANDARD;
}

/**
 * Returns a format of MapCache. `own` is the format in the file; undefined for a format that is built into MapCache.
 */
export function mapCacheFormat(name: string, own: ForeignObject | undefined): MapCacheFormat | undefined {
  if (own === undefined) return BUILT_IN[name];
  switch (own.text("@type")) {
    case "PNG": {
      own.kept("compression", "pngCompression chooses between fast and small");
      if (own.look("colors") === undefined) return STANDARD;
      own.differently("colors", "a palette of at most 256 colours");
      return { ...STANDARD, mimeType: "image/png8" };
    }
    case "JPEG":
      return { mimeType: "image/jpeg", extension: "jpg", quality: own.number("quality") ?? JPEG_QUALITY };
    case "MIXED":
      own.differently("transparent", "PNG");
      own.differently("opaque", "JPEG");
      return { mimeType: "image/vnd.jpeg-png", extension: "xxx", quality: undefined };
    default:
      return undefined;
  }
}

/** Returns the dimensions of a tileset as parameter filters. Adds dimensions that cannot be converted to `leftOut`. */
export function dimensionFilters(tileset: ForeignObject, leftOut: string[]): readonly Content[] {
  const given = tileset.look("dimensions.dimension");
  const list: readonly unknown[] = given === undefined ? [] : Array.isArray(given) ? given : [given];
  if (list.length > 0) tileset.differently("dimensions", "each is a parameter filter, without DIM_ before its name");
  return list.flatMap((item, i): readonly Content[] => {
    if (!isMap(item)) return [];
    const text = (key: string): string => (typeof item[key] === "string" ? item[key] : "");
    const key = text("@name").toUpperCase();
    const common = { key, default: text("@default") };
    const type = text("@type");
    switch (type) {
      case "values":
        return [{ type: "string", ...common, values: valuesOf(item) }];
      case "regex": {
        const expression = textsOf(item["regex"])[0] ?? text("#");
        return [{ type: "regex", ...common, regex: wholeExpression(expression) }];
      }
      default: {
        // If the file has one dimension, it is not in a list.
        const path = ["dimensions", "dimension", ...(Array.isArray(given) ? [String(i)] : [])];
        leftOut.push(
          `the dimension ${key} of the ${tileset.title}: the type ${type} has no equivalent, so all requests have its default${placed(tileset.where(path))}`,
        );
        return [{ type: "string", ...common, values: [] }];
      }
    }
  });
}

const textsOf = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).flatMap((one: unknown) =>
    typeof one === "string" && one !== "" ? [one] : [],
  );

/** Returns the values of a dimension. MapCache before 1.6 has them in one text. */
function valuesOf(item: Content): readonly string[] {
  const values = textsOf(item["value"]);
  if (values.length > 0) return values;
  return textsOf(item["#"]).flatMap((text) => text.split(",").map((value) => value.trim()));
}

/** Returns an expression that matches a whole value if MapCache's expression matches a part of it. */
const wholeExpression = (expression: string): string =>
  /^\^[^|]*\$$/.test(expression) ? expression : `(?s:.*)(?:${expression})(?s:.*)`;
