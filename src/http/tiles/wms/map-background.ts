import type { PlainPicture } from "../../../cache/map-renderer.ts";
import type { Colour } from "../../../image/compose.ts";
import type { ImageFormat, TileFormat } from "../../../layer/format.ts";
import { badField, type Refusal } from "../../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import type { Query } from "../../request/query.ts";

const WHITE: Colour = [255, 255, 255];

const colourDigits = (text: string): string | undefined => /^(?:0x|#)([0-9a-f]{6})$/i.exec(text)?.[1];

/**
 * Parses TRANSPARENT and BGCOLOR of a composed map (OGC 06-042, 7.3.3.9 and 7.3.3.10). Without both, the map is opaque
 * and white under its tiles.
 */
export function parseBackground(query: Query, format: ImageFormat): Result<Pick<PlainPicture, "background">, Refusal> {
  const transparent = query.get("TRANSPARENT") ?? "";
  if (!/^(true|false|)$/i.test(transparent)) return refuse(badField("TRANSPARENT", "TRUE or FALSE", transparent));
  const given = query.get("BGCOLOR") ?? "";
  const digits = colourDigits(given);
  if (given !== "" && digits === undefined) return refuse(badField("BGCOLOR", "0xRRGGBB", given));
  const isTransparent = transparent.toLowerCase() === "true";
  if (isTransparent && (digits === undefined || format.encoding !== "jpeg")) return ok({});
  return ok({ background: digits === undefined ? WHITE : colourOf(digits) });
}

/**
 * Returns whether a request for the box of one tile asks for a background, which a stored tile may lack. JPEG tiles are
 * opaque.
 */
export function wantsBackground(query: Query, format: TileFormat): boolean {
  const transparent = query.get("TRANSPARENT")?.toLowerCase() ?? "";
  if (format.kind === "data" || format.encoding === "jpeg" || transparent === "true") return false;
  return transparent === "false" || (query.get("BGCOLOR") ?? "") !== "";
}

/** Returns whether only tiles with transparency show a background: JPEG tiles are white there. */
export const showsBackground = ({ background }: Pick<PlainPicture, "background">): boolean =>
  background?.some((channel) => channel !== 255) ?? true;

const colourOf = (digits: string): Colour => {
  const number = Number.parseInt(digits, 16);
  return [number >> 16, (number >> 8) & 255, number & 255];
};
