import type { ImageFormat, TileFormat } from "../format.ts";

/** Returns the formats of pictures. */
export const imageFormats = (formats: readonly TileFormat[]): readonly ImageFormat[] =>
  formats.flatMap((format) => (format.kind === "image" ? [format] : []));

/**
 * Returns the best format of the tiles of which a picture is composed: the format of the picture, unless its tiles would
 * hide what lies below. Undefined if the layer has no pictures.
 * @param hasBelow whether something below the tiles must stay visible
 */
export function formatOfParts(
  { formats }: { readonly formats: readonly TileFormat[] },
  wanted: ImageFormat,
  hasBelow: boolean,
): ImageFormat | undefined {
  const offered = imageFormats(formats);
  const same = offered.find(({ mimeType }) => mimeType === wanted.mimeType);
  const candidates = [...(same === undefined ? [] : [same]), ...offered];
  return candidates.find(({ encoding }) => !hasBelow || encoding !== "jpeg") ?? candidates[0];
}
