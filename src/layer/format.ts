/** How a tile of a format is made and named (GWC's table, `facts/gwc-core.md` 2.5). */
export interface TileFormat {
  /** As configured and asked for: `image/png8`. */
  readonly mimeType: string;
  /** In paths: `png8`. */
  readonly extension: string;
  /** The Content-Type that is sent, and that an upstream must answer with. */
  readonly contentType: string;
  readonly encoding: "png" | "png8" | "jpeg" | "webp" | "gif";
}

const FORMATS: readonly TileFormat[] = [
  { mimeType: "image/png", extension: "png", contentType: "image/png", encoding: "png" },
  { mimeType: "image/png8", extension: "png8", contentType: "image/png", encoding: "png8" },
  { mimeType: "image/png24", extension: "png24", contentType: "image/png", encoding: "png" },
  { mimeType: "image/jpeg", extension: "jpeg", contentType: "image/jpeg", encoding: "jpeg" },
  { mimeType: "image/gif", extension: "gif", contentType: "image/gif", encoding: "gif" },
  { mimeType: "image/webp", extension: "webp", contentType: "image/webp", encoding: "webp" },
];

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
