/** The picture that explains a style of a layer: what capabilities say of it (WMTS 1.0.0, table 7, LegendURL). */
export interface Legend {
  /** As in the layer's STYLES filter; "": its default style. */
  readonly style: string;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** MIME type. */
  readonly format: string;
  /** Where it lies, for everybody to see; absent: the layer's WMS is asked for it. */
  readonly url?: string;
  /** The scales that it holds for. */
  readonly minScaleDenominator?: number;
  readonly maxScaleDenominator?: number;
}
