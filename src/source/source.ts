import type { Extent, GridSet, TileIndex, Zoom } from "../grid/grid-set.ts";
import type { Raster } from "../image/raster.ts";
import type { RasterFilter } from "../layer/filter/request-filter.ts";
import type { TileFormat } from "../layer/format.ts";
import type { FormatModifier } from "../layer/picture/format-modifier.ts";
import type { TraceContext } from "../lib/http/trace-context.ts";

/** One picture to render: a metatile with its gutter, or one tile. */
export interface RenderRequest {
  readonly gridSet: GridSet;
  /** The area of the whole picture, including the gutter. */
  readonly extent: Extent;
  readonly width: number;
  readonly height: number;
  /**
   * The single tile that the picture shows; y from the bottom. Undefined if the picture is a metatile or has a gutter.
   */
  readonly tile?: TileIndex | undefined;
  readonly format: TileFormat;
  /** The modifier of the format, for a WMS. Undefined if the format has none. */
  readonly modifier?: FormatModifier | undefined;
  /** The values of all parameter filters of the layer, including defaults. */
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * The result of a render. Pixels rendered here; or an encoded picture that must still be checked by decoding it; or,
 * for formats that are not pictures, a tile to store unchanged. `none`: the upstream has answered that it has no tile
 * there.
 */
export type RenderedImage =
  | { readonly kind: "none" }
  | { readonly kind: "data"; readonly bytes: Uint8Array }
  | { readonly kind: "raster"; readonly raster: Raster }
  | { readonly kind: "encoded"; readonly bytes: Uint8Array };

/** A request to an upstream for something other than tiles. The answer is passed on and never stored. */
export type Question = (FeatureInfoRequest | LegendRequest | MaskRequest) & { readonly trace?: TraceContext };

/** A request for the features at a pixel of a picture that could be rendered. */
export interface FeatureInfoRequest
  extends Pick<RenderRequest, "gridSet" | "extent" | "width" | "height" | "parameters"> {
  readonly kind: "feature_info";
  /** The pixel, from the top left. */
  readonly i: number;
  readonly j: number;
  /** MIME type. */
  readonly infoFormat: string;
  readonly featureCount: number | undefined;
}

/** A request for the picture that explains a style (OGC 05-078r4, 12). */
export interface LegendRequest {
  readonly kind: "legend";
  /** The name of the style; "" for the upstream's default. */
  readonly style: string;
  /** MIME type. */
  readonly format: string;
  /** Further parameters as given, with keys in upper case. */
  readonly options: Readonly<Record<string, string>>;
}

/** A request for the raster of a request filter. A renderer answers with the bits of a `Mask`. */
export interface MaskRequest extends Pick<RenderRequest, "gridSet" | "extent" | "width" | "height"> {
  readonly kind: "mask";
  readonly filter: RasterFilter;
  readonly z: Zoom;
  /** The picture of the raster. Absent: the picture is read from the filter's file or WMS. */
  readonly picture?: Uint8Array;
}

/** A document of the upstream, unchanged. */
export interface UpstreamDocument {
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/**
 * Renders missing tiles. A source lives in a renderer.
 * @throws only SourceError
 */
export interface Source extends AsyncDisposable {
  /** @param watch receives the requests to the upstream and their answers */
  render(request: RenderRequest, signal: AbortSignal, watch?: RenderWatch): Promise<RenderedImage>;
  /** Absent for an upstream that can only render pictures. */
  query?(question: Question, signal: AbortSignal): Promise<UpstreamDocument>;
}

/** Receives the requests to an upstream and their answers. A source without requests never calls it. */
export interface RenderWatch {
  /** @param request the path and query, without secrets */
  requested(request: string): void;
  answered(status: number, contentType: string, bytes: number): void;
}

/** The message of `no_tile` if an upstream has answered that it has no tile. */
export const UPSTREAM_HAS_NONE = "the map server has none";

/** Classes of failure, as counted in a job's `errors`. */
export type FailureClass =
  | "refused" // no connection
  | "unknown_host" // the name of the host cannot be resolved
  | "timeout"
  | "reset" // the connection broke in the middle
  | "http_status" // 4xx
  | "server_error" // 5xx
  | "busy" // 429, or 503 with Retry-After
  | "exception" // 200 with an XML or HTML document; the message quotes it
  | "empty"
  | "no_tile" // the source has no tile here; not a fault
  | "truncated"
  | "wrong_size"
  | "wrong_type"
  | "too_large"
  | "store" // the tile was rendered but could not be stored
  | "cancelled";

export class SourceError extends Error {
  readonly failure: FailureClass;
  readonly retryAfterMs: number | undefined;
  /**
   * Whether the same request would fail again, for example because the upstream does not know the layer or the user.
   */
  readonly isPermanent: boolean;
  constructor(
    failure: FailureClass,
    message: string,
    options: { readonly cause?: unknown; readonly retryAfterMs?: number; readonly isPermanent?: boolean } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = "SourceError";
    this.failure = failure;
    this.retryAfterMs = options.retryAfterMs;
    this.isPermanent = options.isPermanent ?? false;
  }
}

/** Returns whether a failure looks like an outage: the upstream did not answer, or answered with a server error. */
export const isOutage = (failure: FailureClass): boolean => OUTAGES.has(failure);

const OUTAGES: ReadonlySet<FailureClass> = new Set([
  "refused",
  "unknown_host",
  "timeout",
  "reset",
  "server_error",
  "busy",
]);
