import { asFormatName, type FormatName } from "./tile-set.ts";

/** A format of tiles (GWC's table, `docs/explanation/geowebcache.md`, Formats). */
export type TileFormat = ImageFormat | DataFormat;

/** The names of a format. */
interface NamedFormat {
  /** The name in the configuration and in requests, such as `image/png8`. */
  readonly mimeType: FormatName;
  /** The name in paths, such as `png8`. */
  readonly extension: string;
  /** The format that is requested from a WMS or a WMTS. */
  readonly upstreamType: string;
}

/** Picture formats. Their tiles are decoded, cut and encoded by the renderer. */
export interface ImageFormat extends NamedFormat {
  readonly kind: "image";
  /**
   * The Content-Type of the answer. Undefined for a hybrid format, where `contentTypeOf` reads the type of each tile
   * from its bytes.
   */
  readonly contentType: string | undefined;
  /** `jpeg-png` and `jpeg-png8` encode a tile as JPEG where every pixel is opaque, else as PNG or PNG8. */
  readonly encoding: "png" | "png8" | "jpeg" | "webp" | "gif" | "avif" | "jpeg-png" | "jpeg-png8";
}

/** All other formats. Their tiles are requested one by one and stored as the upstream made them. */
export interface DataFormat extends NamedFormat {
  readonly kind: "data";
  readonly contentType: string;
  /** The encoding of the tile's bytes: protocol buffers, or JSON. */
  readonly content: "protobuf" | "json";
}

const plain = (encoding: "png" | "jpeg" | "gif" | "webp"): ImageFormat => {
  const mimeType = asFormatName(`image/${encoding}`);
  return { kind: "image", mimeType, extension: encoding, contentType: mimeType, upstreamType: mimeType, encoding };
};
/** Describes a format whose tiles a WMS renders as PNG. PNG is lossless, and every WMS supports it. */
const fromPng = (
  format: Omit<ImageFormat, "kind" | "upstreamType" | "mimeType"> & { mimeType: string },
): ImageFormat => ({
  kind: "image",
  ...format,
  mimeType: asFormatName(format.mimeType),
  upstreamType: "image/png",
});
const hybrid = (encoding: "jpeg-png" | "jpeg-png8"): ImageFormat =>
  fromPng({ mimeType: `image/vnd.${encoding}`, extension: encoding, contentType: undefined, encoding });
const json = (extension: "geojson" | "topojson" | "utfgrid"): DataFormat => {
  const mimeType = asFormatName(`application/json;type=${extension}`);
  return {
    kind: "data",
    mimeType,
    extension,
    contentType: "application/json",
    upstreamType: mimeType,
    content: "json",
  };
};

const VECTOR_TILE = asFormatName("application/vnd.mapbox-vector-tile");

export const PNG: ImageFormat = plain("png");
const PNG_24 = asFormatName("image/png; mode=24bit");

const FORMATS: readonly TileFormat[] = [
  PNG,
  fromPng({ mimeType: "image/png8", extension: "png8", contentType: "image/png", encoding: "png8" }),
  fromPng({ mimeType: "image/png24", extension: "png24", contentType: "image/png", encoding: "png" }),
  // MapServer's name for a PNG without a palette. GWC stores these tiles apart from tiles of image/png24.
  { ...PNG, mimeType: PNG_24, extension: "png_24", upstreamType: PNG_24 },
  plain("jpeg"),
  plain("gif"),
  plain("webp"),
  fromPng({ mimeType: "image/avif", extension: "avif", contentType: "image/avif", encoding: "avif" }),
  hybrid("jpeg-png"),
  hybrid("jpeg-png8"),
  {
    kind: "data",
    mimeType: VECTOR_TILE,
    extension: "pbf",
    contentType: VECTOR_TILE,
    upstreamType: VECTOR_TILE,
    content: "protobuf",
  },
  json("geojson"),
  json("topojson"),
  json("utfgrid"),
];

/** Aliases of formats. For vector tiles: GWC's older name, and the name that many servers use. */
const TYPE_ALIASES: ReadonlyMap<string, string> = new Map<string, string>([
  ["image/jpg", "image/jpeg"],
  ["image/png;mode=24bit", PNG_24],
  ["image/png;%20mode=24bit", PNG_24],
  ["application/x-protobuf;type=mapbox-vector", VECTOR_TILE],
  ["application/x-protobuf", VECTOR_TILE],
]);
const EXTENSION_ALIASES: ReadonlyMap<string, string> = new Map([
  ["jpg", "jpeg"],
  ["mvt", "pbf"],
]);

/**
 * Returns the Content-Type of a tile. For a hybrid format the first byte decides: it is FF in every JPEG (ITU T.81,
 * B.1.1.2).
 */
export const contentTypeOf = (format: TileFormat, tile: Uint8Array): string =>
  format.contentType ?? (tile[0] === 0xff ? "image/jpeg" : "image/png");

const byMimeType: ReadonlyMap<string, TileFormat> = new Map(FORMATS.map((f) => [f.mimeType, f]));
const byExtension = new Map(FORMATS.map((f) => [f.extension, f]));

export const formatNames: readonly FormatName[] = FORMATS.map((f) => f.mimeType);

/**
 * The longest MIME type that is parsed, because a client may send megabytes. Every name of a format, with some blanks,
 * is shorter.
 */
const LONGEST_TYPE = 200;

/**
 * Finds a format by its MIME type or an alias; case and spaces around `;` do not matter. If the whole name of a picture
 * format is unknown, its part before the first `;` counts, as in GWC: `image/png; mode=8bit` is PNG. Undefined if the
 * type is unknown.
 */
export function formatOf(mimeType: string): TileFormat | undefined {
  if (mimeType.length > LONGEST_TYPE) return undefined;
  const known = byMimeType.get(mimeType);
  if (known !== undefined) return known;
  const parts = mimeType.split(";").map((part) => part.trim().toLowerCase());
  const [type = ""] = parts;
  return formatNamed(parts.join(";")) ?? (type.startsWith("image/") ? formatNamed(type) : undefined);
}

const formatNamed = (name: string): TileFormat | undefined => byMimeType.get(TYPE_ALIASES.get(name) ?? name);

/**
 * Finds a format by the extension in an address; `jpg` and `mvt` are aliases of `jpeg` and `pbf`. Undefined if the
 * extension is unknown.
 */
export function formatOfExtension(extension: string): TileFormat | undefined {
  return byExtension.get(EXTENSION_ALIASES.get(extension) ?? extension);
}

/** Returns the name of a format in paths; `unknown` for a format that this version does not support. */
export const extensionOf = (format: FormatName): string => formatOf(format)?.extension ?? "unknown";

/** Returns the format with exactly this extension, as paths have it. Undefined for an alias or an unknown extension. */
export const formatInPath = (extension: string): FormatName | undefined => byExtension.get(extension)?.mimeType;
