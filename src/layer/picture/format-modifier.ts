import type { TileFormat } from "../format.ts";
import { type EncodingOptions, encodingOptions } from "./encoding.ts";

/**
 * Request parameters and a quality that replace the layer's for the tiles of one format (GeoWebCache's
 * `formatModifier`).
 */
export interface FormatModifier {
  /** The MIME type of the tiles. */
  readonly format: string;
  /** The MIME type that is requested from the WMS. */
  readonly requestFormat?: string;
  readonly transparent?: boolean;
  /** `0xRRGGBB`. */
  readonly bgColor?: string;
  readonly palette?: string;
  readonly jpegQuality?: number;
}

interface Modified {
  readonly formatModifiers: readonly FormatModifier[];
}

/** Returns the modifier of a format. Undefined if the layer has no modifier for it. */
export const modifierOf = ({ formatModifiers }: Modified, { mimeType }: TileFormat): FormatModifier | undefined =>
  formatModifiers.find(({ format }) => format === mimeType);

/** Returns how the tiles of a format of a layer are encoded. */
export function encodingOf(layer: Modified & EncodingOptions, format: TileFormat): EncodingOptions {
  const { jpegQuality = layer.jpegQuality } = modifierOf(layer, format) ?? {};
  return { ...encodingOptions(layer), jpegQuality };
}
