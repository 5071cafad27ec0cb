import type { Content } from "../../../../gwc/content.ts";
import { defined } from "../../../../lib/defined.ts";
import { isMap } from "../../../../lib/is-map.ts";
import { ok, type Result, refuse } from "../../../../lib/result.ts";
import type { ForeignObject } from "../foreign-object.ts";
import { upstreamUrl } from "../upstream-url.ts";

/** The parameters of a WMS request that have keys of their own. */
const OWN_PARAMETERS = ["FORMAT", "LAYERS", "STYLES", "TRANSPARENT", "VERSION", "BGCOLOR"];
/** The parameters that each request of a WMS source has. MapCache replaces them too. */
const SET_PARAMETERS = ["SERVICE", "REQUEST", "SRS", "CRS", "BBOX", "WIDTH", "HEIGHT"];

/** Returns a source of MapCache, or why it cannot be used. */
export function mapCacheSource(
  source: ForeignObject,
  name: string,
  variables: Set<string>,
): Result<{ readonly content: Content; readonly queryable: boolean }, string> {
  const type = source.text("@type") ?? "";
  if (type !== "wms") {
    source.kept("@type", "only sources of the type wms have an equal");
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
  const upstream = upstreamUrl(source.text("http.url") ?? "", name, variables);
  if (upstream.password !== undefined) source.differently("http.url", "the password is in a variable");
  source.kept("http.headers", "requests have no headers of their own: use vendorParameters, or username and password");
  source.kept("http.connection_timeout", "timeoutSeconds is the limit of the whole request");
  if (parameter("FORMAT") !== undefined)
    source.differently(["getmap", "params", "FORMAT"], "the upstream is asked for the format of the tiles");
  for (const key of Object.keys(parameters))
    if (SET_PARAMETERS.includes(key.toUpperCase()))
      source.kept(["getmap", "params", key], "each request has the value of its map");
  const styles = parameter("STYLES")?.split(",");
  return ok({
    content: defined({
      type: "wms",
      ...upstream,
      version: parameter("VERSION") === "1.3.0" ? "1.3.0" : undefined,
      layers: parameter("LAYERS")?.split(","),
      styles: styles?.some((style) => style !== "") === true ? styles : undefined,
      transparent: parameter("TRANSPARENT")?.toLowerCase() === "true",
      bgColor: parameter("BGCOLOR"),
      timeoutSeconds: source.number("http.timeout"),
      vendorParameters: vendor.length === 0 ? undefined : Object.fromEntries(vendor),
    }),
    queryable: source.value("getfeatureinfo") !== undefined,
  });
}

/** The format of a tileset. */
export interface MapCacheFormat {
  readonly mimeType: string;
  /** The extension of the files. */
  readonly extension: string;
  readonly quality: number | undefined;
}

const STANDARD: MapCacheFormat = { mimeType: "image/png", extension: "png", quality: undefined };
const BUILT_IN: Readonly<Record<string, MapCacheFormat>> = {
  PNG: STANDARD,
  PNG8: { ...STANDARD, mimeType: "image/png8" },
  JPEG: { mimeType: "image/jpeg", extension: "jpg", quality: undefined },
  mixed: { mimeType: "image/vnd.jpeg-png", extension: "xxx", quality: undefined },
};

/** Returns a format of MapCache. `own`: as the file has it; undefined: it is one of MapCache's own. */
export function mapCacheFormat(name: string | undefined, own: ForeignObject | undefined): MapCacheFormat | undefined {
  if (own === undefined) return name === undefined ? STANDARD : BUILT_IN[name];
  switch (own.text("@type")) {
    case "PNG": {
      own.kept("compression", "pngCompression chooses between fast and small");
      if (own.look("colors") === undefined) return STANDARD;
      own.differently("colors", "a palette of at most 256 colours");
      return { ...STANDARD, mimeType: "image/png8" };
    }
    case "JPEG":
      return { mimeType: "image/jpeg", extension: "jpg", quality: own.number("quality") };
    case "MIXED":
      own.differently("transparent", "PNG");
      own.differently("opaque", "JPEG");
      return { mimeType: "image/vnd.jpeg-png", extension: "xxx", quality: undefined };
    default:
      return undefined;
  }
}

/** Returns the dimensions of a tileset as parameter filters. */
export function dimensionFilters(tileset: ForeignObject): readonly Content[] {
  const given = tileset.look("dimensions.dimension");
  const list: readonly unknown[] = given === undefined ? [] : Array.isArray(given) ? given : [given];
  if (list.length > 0) tileset.differently("dimensions", "each is a parameter filter");
  return list.flatMap((item): readonly Content[] => {
    if (!isMap(item)) return [];
    const text = (key: string): string => String(item[key] ?? "");
    const key = text("@name").toUpperCase();
    const values = text("#")
      .split(",")
      .map((value) => value.trim());
    if (text("@type") === "regex") return [{ type: "regex", key, default: text("@default"), regex: text("#") }];
    return [{ type: "string", key, default: text("@default"), values }];
  });
}
