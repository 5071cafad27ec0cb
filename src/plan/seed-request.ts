import type { Position } from "../grid/crs/reproject.ts";
import type { Extent } from "../grid/grid-set.ts";
import type { DecodedFields } from "./job/job-fields.ts";
import type { JobTerms } from "./job/job-terms.ts";

export const JOB_TYPES = ["seed", "reseed", "truncate"] as const;
export type JobType = (typeof JOB_TYPES)[number];

/** At least one polygon, each with its outline and its holes. No polygon is empty. Rings are not closed. */
export interface RequestedArea {
  readonly polygons: readonly (readonly (readonly Position[])[])[];
  /** EPSG code. "grid_set": the CRS of the grid set. */
  readonly srs: number | "grid_set";
  /** The bounds from which the area was made, in the same CRS. */
  readonly bounds?: Extent;
}

/** A tile in XYZ numbering: y from the **top**. */
export interface RequestedTile {
  readonly z: number;
  readonly x: number;
  readonly y: number;
}

/**
 * A seed request as decoded (`docs/reference/wire-format.md`, Seed request): the fields are well-formed, but not
 * validated against a layer.
 */
export interface SeedRequest extends DecodedFields {
  readonly type: JobType;
  readonly gridSet?: string;
  /** EPSG code; never 0 (0 means not given). */
  readonly srs?: number;
  /** minx, miny, maxx, maxy: four finite numbers, whose order is not checked yet. */
  readonly bounds?: Extent;
  /** At most one of bounds, area and tiles is given. */
  readonly area?: RequestedArea;
  /** At least one. Excludes zoomStart and zoomStop. */
  readonly tiles?: readonly RequestedTile[];
  /** Whole numbers, which may be negative. */
  readonly zoomStart?: number;
  readonly zoomStop?: number;
  readonly format?: string;
  readonly threadCount?: number;
  /** Keys as given, in any case. Empty if absent in the request. */
  readonly parameters: ReadonlyMap<string, string>;
  /** Absent: the standard terms. */
  readonly terms?: JobTerms;
  /**
   * Whether older seeds and reseeds within this job's range are cancelled. Never set for a seed, or with an area or
   * tiles.
   */
  readonly supersede?: true;
}

/** A mass truncate request as decoded (`docs/reference/wire-format.md`, Mass truncate). */
export type MassTruncateRequest =
  /** Truncates every layer. `isForm`: GeoWebCache's HTML form was sent, and a browser shows the answer. */
  | { readonly type: "truncateAll"; readonly isForm: boolean }
  | { readonly type: "truncateLayer"; readonly layer: string }
  | { readonly type: "truncateOrphans"; readonly layer: string }
  | { readonly type: "truncateParameters"; readonly layer: string; readonly parameters: ReadonlyMap<string, string> }
  | { readonly type: "truncateExtent"; readonly layer: string; readonly gridSet?: string; readonly bounds?: Extent };
