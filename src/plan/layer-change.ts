import {
  FULL_TURN,
  isGeographic,
  isRolledOut,
  type Transform,
  transformBetween,
} from "../grid/crs/coordinate-systems.ts";
import { unionOf } from "../grid/extent.ts";
import {
  asTileRect,
  asZoom,
  type Extent,
  type GridSetName,
  rectExtent,
  type TileRect,
  type Zoom,
} from "../grid/grid-set.ts";
import { rectList } from "../grid/rect-list.ts";
import { limitOf } from "../grid/selection.ts";
import { coverageAt, type GridSubset } from "../layer/grid-subset.ts";
import type { Layer } from "../layer/layer.ts";
import { storesLevel } from "../layer/stored-levels.ts";
import type { Refusal } from "../lib/refusal.ts";
import { ok, type Result } from "../lib/result.ts";
import type { JobOptions } from "./job/job-options.ts";
import type { JobRequest } from "./job/job-request.ts";
import { inFormat, planSeed } from "./plan-job.ts";
import { areaLevel } from "./plan-selection.ts";
import type { JobType } from "./seed-request.ts";
import { type BoxEdge, collapsed, TouchedTiles } from "./touched-tiles.ts";

/** The most rectangles of one level of one grid set. A rectangle takes some 40 bytes while it is collected. */
const MOST_RECTS = 16_384;
/** The most rectangles of one level of a job. */
const MOST_RECTS_OF_JOB = 4_096;
/** The points along an edge of a box whose images are straight enough, and of any other box. */
const FEW = 2;
const MANY = 16;
/** The distance of an image from a parallelogram, relative to its size, from which many points are compared. */
const BENT = 0.01;

/** A grid set of the layer, and the tiles of it that have changed. "all": every tile. */
interface ChangedSubset {
  readonly subset: GridSubset;
  tiles: TouchedTiles | "all";
}

/** The places of a change. `rects`: undefined for all tiles of the subset. */
export interface ChangedPlaces {
  readonly subset: GridSubset;
  readonly rects: readonly TileRect[] | undefined;
}

/** Collects changes of a layer's data. Takes constant memory. */
export class LayerChange {
  readonly #subsets: readonly ChangedSubset[];
  readonly #conversions = new Map<string, Transform | undefined>();
  #isWhole = false;

  constructor(layer: Layer) {
    this.#subsets = layer.gridSubsets.map((subset) => ({
      subset,
      tiles: new TouchedTiles(levelsOf(subset), MOST_RECTS),
    }));
  }

  /** Adds all data of the layer. */
  addAll(): void {
    this.#isWhole = true;
  }

  /**
   * Adds a box.
   * @param srs the EPSG code of the box, whose x comes first
   * @returns false if the CRS is not known, so that the box has no place in any grid set of the layer
   */
  addBox(box: Extent, srs: number, edge: BoxEdge): boolean {
    const placed = this.#subsets.map((changed) => ({
      changed,
      transform: this.#conversion(srs, changed.subset.gridSet.srs),
    }));
    if (placed.every(({ transform }) => transform === undefined)) return false;
    for (const { changed, transform } of placed) {
      if (changed.tiles === "all") continue;
      const { srs: to } = changed.subset.gridSet;
      const isStraight = srs === to || (isRolledOut(srs) && isRolledOut(to));
      const images =
        transform === undefined ? undefined : turnsOf(box, srs).map((one) => imageOf(one, transform, isStraight));
      // A box without an image may be anywhere in the grid set.
      if (images === undefined || images.includes(undefined)) changed.tiles = "all";
      else for (const image of images) if (image !== undefined) changed.tiles.add(image, edge);
    }
    return true;
  }

  #conversion(from: number, to: number): Transform | undefined {
    const key = `${from} ${to}`;
    if (!this.#conversions.has(key)) this.#conversions.set(key, transformBetween(from, to));
    return this.#conversions.get(key);
  }

  /** Returns the places of the change, by grid set. */
  places(): readonly ChangedPlaces[] {
    return this.#subsets.flatMap(({ subset, tiles }): ChangedPlaces[] => {
      if (this.#isWhole || tiles === "all") return [{ subset, rects: undefined }];
      const rects = tiles.rects();
      return rects.length === 0 ? [] : [{ subset, rects }];
    });
  }
}

/** Returns the request of a job in the places of a change. */
function planIn(
  type: JobType,
  { subset, rects }: ChangedPlaces,
  layer: Layer,
  options: JobOptions,
): Result<JobRequest, Refusal> {
  const request = { type, gridSet: subset.gridSet.id, parameters: new Map<string, string>(), threadCount: 1 };
  const planned = planSeed(request, layer, options);
  return planned.ok && rects !== undefined ? ok(inRects(planned.value, rects, subset)) : planned;
}

/** Plans the truncate of all formats and parameters in the places of a change. Pure. */
export function planRemoval(
  places: ChangedPlaces,
  layer: Layer,
  options: JobOptions,
): Result<readonly JobRequest[], Refusal> {
  const truncate = planIn("truncate", places, layer, options);
  return truncate.ok ? ok([{ ...truncate.value, parameters: null, parametersId: null }]) : truncate;
}

/**
 * Plans the seeds or reseeds of the default parameters, in all formats, after a change. Pure.
 * @param changedMs the time of the change, ms since 1970: a reseed leaves the tiles that were rendered since
 */
export function planRenewal(
  type: Exclude<JobType, "truncate">,
  places: ChangedPlaces,
  changedMs: number,
  layer: Layer,
  options: JobOptions,
): Result<readonly JobRequest[], Refusal> {
  const { subset, rects } = places;
  const few = rects === undefined ? places : { subset, rects: collapsed(rects, levelsOf(subset), MOST_RECTS_OF_JOB) };
  const first = planIn(type, few, layer, options);
  if (!first.ok) return first;
  const stored = first.value.ranges.flatMap((range) => range.rects).filter(({ z }) => storesLevel(layer, subset, z));
  if (stored.length === 0) return ok([]);
  const limited = {
    ...first.value,
    ...spanOf(stored),
    ranges: [{ gridSet: subset.gridSet.id, rects: stored }],
    ...(type === "reseed" ? ({ olderThanMs: changedMs, afterChange: true } as const) : {}),
  };
  const jobs: JobRequest[] = [];
  for (const { mimeType } of layer.formats) {
    // The jobs share the ranges and the selection.
    const job = inFormat(limited, { type, format: mimeType }, layer);
    if (!job.ok) return job;
    jobs.push(job.value);
  }
  return ok(jobs);
}

const levelsOf = (subset: GridSubset) =>
  subset.gridSet.matrices.flatMap((_, i) => {
    const z = asZoom(i);
    const coverage = coverageAt(subset, z);
    return coverage === undefined ? [] : [{ ...areaLevel(subset, z), coverage }];
  });

/** Limits a planned job of a whole grid set to rectangles of it. */
function inRects(planned: JobRequest, rects: readonly TileRect[], { gridSet }: GridSubset): JobRequest {
  const around = new Map<Zoom, TileRect>();
  for (const rect of rects) around.set(rect.z, widened(around.get(rect.z), rect));
  const levels = [...around.values()];
  const [first, ...others] = levels.map((rect) => rectExtent(gridSet, rect));
  const selection = rectList(rects);
  return {
    ...planned,
    bounds: first === undefined ? null : others.reduce(unionOf, first),
    ...spanOf(levels),
    ranges: rangesOf(gridSet.id, levels),
    limit: limitOf(selection),
    selection,
  };
}

const rangesOf = (gridSet: GridSetName, rects: readonly TileRect[]): JobRequest["ranges"] => [{ gridSet, rects }];

/** Returns the levels of rectangles, of which there is at least one. */
function spanOf(rects: readonly TileRect[]): Pick<JobRequest, "zoomStart" | "zoomStop"> {
  const zooms = rects.map(({ z }) => z);
  return { zoomStart: asZoom(Math.min(...zooms)), zoomStop: asZoom(Math.max(...zooms)) };
}

const widened = (before: TileRect | undefined, rect: TileRect): TileRect =>
  before === undefined ? rect : asTileRect({ z: rect.z, ...unionOf(before, rect) });

/** Returns a box, and copies of it that are shifted by a full turn if it crosses the date line. */
function turnsOf(box: Extent, srs: number): readonly Extent[] {
  const half = FULL_TURN / 2;
  if (!isGeographic(srs) || (box.minX >= -half && box.maxX <= half)) return [box];
  return [-FULL_TURN, 0, FULL_TURN].map((turn) => ({ ...box, minX: box.minX + turn, maxX: box.maxX + turn }));
}

/** Returns the box around the image of a box. Undefined if a point of the box has no image. */
function imageOf(box: Extent, transform: Transform, isStraight: boolean): Extent | undefined {
  const few = around(box, transform, isStraight ? 1 : FEW);
  if (isStraight || few === undefined) return few?.extent;
  const { minX, minY, maxX, maxY } = few.extent;
  const size = Math.max(maxX - minX, maxY - minY);
  const bent = few.bend > BENT * size ? around(box, transform, MANY) : few;
  if (bent === undefined) return undefined;
  // Between the compared points the image may reach a little farther.
  const margin = Math.min(bent.bend, BENT * size);
  const { extent } = bent;
  return {
    minX: extent.minX - margin,
    minY: extent.minY - margin,
    maxX: extent.maxX + margin,
    maxY: extent.maxY + margin,
  };
}

/** Returns the box around the images of a raster of points, and how far the middle of the image is from its corners' middle. */
function around(
  { minX, minY, maxX, maxY }: Extent,
  transform: Transform,
  parts: number,
): { readonly extent: Extent; readonly bend: number } | undefined {
  const extent = { minX: Infinity, minY: Infinity, maxX: -Infinity, maxY: -Infinity };
  for (let i = 0; i <= parts; i++)
    for (let j = 0; j <= parts; j++) {
      const [x, y] = transform(minX + ((maxX - minX) * i) / parts, minY + ((maxY - minY) * j) / parts);
      if (!Number.isFinite(x) || !Number.isFinite(y)) return undefined;
      extent.minX = Math.min(extent.minX, x);
      extent.minY = Math.min(extent.minY, y);
      extent.maxX = Math.max(extent.maxX, x);
      extent.maxY = Math.max(extent.maxY, y);
    }
  if (parts === 1) return { extent, bend: 0 };
  const [a, b] = [transform(minX, minY), transform(maxX, maxY)];
  const middle = transform((minX + maxX) / 2, (minY + maxY) / 2);
  return { extent, bend: Math.hypot((a[0] + b[0]) / 2 - middle[0], (a[1] + b[1]) / 2 - middle[1]) };
}
