/** How a tile of a format is made and named (GWC's table, `facts/gwc-core.md` 2.5). */
export interface TileFormat {
  /** As configured and asked for: `image/png8`. */
  readonly mimeType: string;
  /** In paths: `png8`. */
  readonly extension: string;
  /** The Content-Type that is sent; undefined: each tile has its own, which `contentTypeOf` reads from its bytes. */
  readonly contentType: string | undefined;
  /** What a WMS is asked for. */
  readonly upstreamType: string;
  /** `jpeg-png` and `jpeg-png8`: JPEG where every pixel is opaque, else the other. */
  readonly encoding: "png" | "png8" | "jpeg" | "webp" | "gif" | "avif" | "jpeg-png" | "jpeg-png8";
}

const plain = (encoding: "png" | "jpeg" | "gif" | "webp"): TileFormat => {
  const mimeType = `image/${encoding}`;
  return { mimeType, extension: encoding, contentType: mimeType, upstreamType: mimeType, encoding };
};
/** What a WMS draws as PNG, whatever the tiles become: nothing is lost on the way, and every WMS can. */
const fromPng = (format: Omit<TileFormat, "upstreamType">): TileFormat => ({ ...format, upstreamType: "image/png" });
const hybrid = (encoding: "jpeg-png" | "jpeg-png8"): TileFormat =>
  fromPng({ mimeType: `image/vnd.${encoding}`, extension: encoding, contentType: undefined, encoding });

const FORMATS: readonly TileFormat[] = [
  plain("png"),
  fromPng({ mimeType: "image/png8", extension: "png8", contentType: "image/png", encoding: "png8" }),
  fromPng({ mimeType: "image/png24", extension: "png24", contentType: "image/png", encoding: "png" }),
  plain("jpeg"),
  plain("gif"),
  plain("webp"),
  fromPng({ mimeType: "image/avif", extension: "avif", contentType: "image/avif", encoding: "avif" }),
  hybrid("jpeg-png"),
  hybrid("jpeg-png8"),
];

/** The Content-Type of a tile: of a hybrid's it is told by the first byte, which is FF in every JPEG (ITU T.81, B.1.1.2). */
export const contentTypeOf = (format: TileFormat, tile: Uint8Array): string =>
  format.contentType ?? (tile[0] === 0xff ? "image/jpeg" : "image/png");

const byMimeType = new Map(FORMATS.map((f) => [f.mimeType, f]));
const byExtension = new Map(FORMATS.map((f) => [f.extension, f]));

export const formatNames: readonly string[] = FORMATS.map((f) => f.mimeType);

/** A format by its MIME type; `image/jpg` is read as `image/jpeg`; case does not matter. */
export function formatOf(mimeType: string): TileFormat | undefined {
  const name = mimeType.trim().toLowerCase();
  return byMimeType.get(name === "image/jpg" ? "image/jpeg" : name);
}

/** A format by the extension in an address; `jpg` is an alias of `jpeg`. */
export function formatOfExtension(extension: string): TileFormat | undefined {
  return byExtension.get(extension === "jpg" ? "jpeg" : extension);
}
