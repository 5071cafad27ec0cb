import { legalValue, type ParameterFilter } from "./filter/parameter-filter.ts";

/** The picture that explains a style of a layer, for the capabilities (WMTS 1.0.0, table 7, LegendURL). */
export interface Legend {
  /** The style, as in the layer's STYLES filter; "" for the default style. */
  readonly style: string;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** MIME type. */
  readonly format: string;
  /** The public address of the legend. Absent: the layer's WMS renders the legend. */
  readonly url?: string;
  /** The range of scales that the legend applies to. */
  readonly minScaleDenominator?: number;
  readonly maxScaleDenominator?: number;
}

/** Returns the name of a style in tile sets, "" for the default. Undefined if the layer has no such style. */
export function styleName(style: string, filter: ParameterFilter | undefined): string | undefined {
  if (style === "") return "";
  const value = filter === undefined ? undefined : legalValue(filter, style);
  return style === filter?.default || (value !== undefined && value === filter?.default) ? "" : value;
}
