import { matrixRect, rectCount, type TileRect, type Zoom } from "../../grid/grid-set.ts";
import { indexInSteps } from "../../grid/selection.ts";
import type { TileSelection } from "../../grid/tile-selection.ts";
import { coverageAt } from "../../layer/grid-subset.ts";
import { findSubset, type Layer } from "../../layer/layer.ts";
import type { KnownTileSet, Ledger } from "../../ledger/ledger.ts";
import type { JobCounts } from "../job/job-counts.ts";
import type { EstimateView, JobView } from "../job/job-documents.ts";
import type { JobRequest } from "../job/job-request.ts";
import { combinationsOf } from "../parameters/combination.ts";
import { fitsOf, type Growth, type GrowthLimits, leastAllocated, sizeOf } from "./store-growth.ts";

export interface EstimateSources extends GrowthLimits {
  /** All tiles of the job by zoom. */
  readonly totals: JobCounts;
  readonly ledger: Ledger;
  /** The layer. Undefined if a reload has removed it since the request. */
  readonly layer: Layer | undefined;
  /** Whether all tiles of the layer have been counted. */
  readonly isCounted: boolean;
  /** The last jobs of the layer. */
  readonly jobs: readonly JobView[];
}

/** A level with at most this many stored tiles is counted block by block, which reads at most this many blocks. */
const FEW = 10_000n;

/** An estimate, and the estimated growth of the store. */
export interface Estimated {
  readonly view: EstimateView;
  readonly growth: Growth;
}

/**
 * Estimates a seed or reseed by arithmetic and sums, so that the time does not depend on the size of the range. Yields
 * while it counts blocks.
 */
export function* estimate(request: JobRequest, from: EstimateSources): Generator<undefined, Estimated> {
  const index = request.selection === undefined ? undefined : yield* indexInSteps(request.selection);
  const known = tileSetsOf(request, from.ledger);
  const zooms: (EstimateView["zooms"][number] & { readonly z: Zoom })[] = [];
  // A seed or reseed has one grid set, so each zoom occurs once.
  for (const rect of request.ranges.flatMap(({ rects }) => rects)) {
    const tiles = from.totals.of(rect.z).total;
    // A job over existing tiles counts only stored tiles.
    const stored = request.onlyExisting === true ? tiles : yield* storedIn(known, rect, index, from);
    zooms.push({ z: rect.z, tiles, kept: stored, missing: stored === null ? null : tiles - stored });
  }
  const tiles = zooms.reduce((sum, zoom) => sum + zoom.tiles, 0n);
  const stored = zooms.reduce<bigint | null>((sum, zoom) => addCounts(sum, zoom.kept), 0n);
  const missing = stored === null ? null : tiles - stored;
  const added = zooms.map((zoom) => ({ z: zoom.z, tiles: (missing === null ? null : zoom.missing) ?? zoom.tiles }));
  const renderedOf = request.type === "seed" ? added : zooms;
  const rendered = renderedOf.reduce((sum, zoom) => sum + zoom.tiles, 0n);
  const files = added.reduce((sum, zoom) => sum + zoom.tiles, 0n);
  const growth = { files, size: sizeOf(added, known) };
  const size = sizeOf(renderedOf, known);
  const rate = limitedRate(rateOf(from.jobs), request.terms?.rateLimit ?? null);
  const view = {
    tiles,
    kept: stored,
    missing,
    bytes: size?.bytes ?? null,
    bytesOnDisk: size?.allocated ?? leastAllocated(rendered, from),
    inodes: files,
    ...fitsOf(new Map([[request.layer, growth]]), from),
    tilesPerSecond: rate === null ? null : Math.round(rate * 100) / 100,
    seconds: rate === null ? null : Math.min(Number.MAX_SAFE_INTEGER, Math.round(Number(rendered) / rate)),
    zooms,
  };
  return { view, growth };
}

/** Returns the tile sets of a job that are in the ledger. They all belong to the job's one grid set. */
function tileSetsOf({ layer, gridSet, format, ...request }: JobRequest, ledger: Ledger): readonly KnownTileSet[] {
  const ids = new Set(combinationsOf(request)?.map(({ parametersId }) => parametersId));
  return [...ledger.tileSets()].filter(
    ({ tileSet: t }) => t.layer === layer && t.gridSet === gridSet && t.format === format && ids.has(t.parametersId),
  );
}

/** Adds two counts. Null if a count is unknown. */
export const addCounts = (a: bigint | null, b: bigint | null): bigint | null =>
  a === null || b === null ? null : a + b;

/** Counts the stored tiles in a rectangle. Null if neither the sums nor a few blocks give the number. */
function* storedIn(
  known: readonly KnownTileSet[],
  rect: TileRect,
  index: TileSelection | undefined,
  from: EstimateSources,
): Generator<undefined, bigint | null> {
  if (!from.isCounted) return null;
  let sum = 0n;
  for (const one of known) {
    const stored = yield* storedOf(one, rect, index, from);
    if (stored === null) return null;
    sum += stored;
  }
  return sum;
}

function* storedOf(
  { tileSet, sums }: KnownTileSet,
  rect: TileRect,
  index: TileSelection | undefined,
  from: EstimateSources,
): Generator<undefined, bigint | null> {
  const sum = sums.get(rect.z)?.tiles ?? 0n;
  if (sum === 0n) return 0n;
  if (sum <= FEW) return yield* from.ledger.countStored(tileSet, rect, index);
  if (index !== undefined) return null;
  const subset = from.layer === undefined ? undefined : findSubset(from.layer, tileSet.gridSet);
  if (subset === undefined) return null;
  const all = rectCount(rect);
  if (all === rectCount(matrixRect(subset.gridSet, rect.z))) return sum;
  const coverage = coverageAt(subset, rect.z);
  // No tile is stored outside of the coverage, unless the coverage was larger before: then the sum may exceed the
  // rectangle.
  return coverage !== undefined && all === rectCount(coverage) && sum <= all ? sum : null;
}

const limitedRate = (rate: number | null, limit: number | null): number | null =>
  limit === null ? rate : Math.min(rate ?? limit, limit);

/**
 * Returns the tiles rendered per second of work. Skipped tiles do not count, because they needed no render. Null if no
 * job has rendered tiles.
 */
function rateOf(jobs: readonly JobView[]): number | null {
  const renderedBy = ({ type, tiles }: JobView): bigint => (type === "truncate" ? 0n : tiles.stored);
  const rendering = jobs.filter((job) => renderedBy(job) > 0n);
  const seconds = rendering.reduce((sum, job) => sum + job.secondsWorked, 0);
  const rendered = rendering.reduce((sum, job) => sum + renderedBy(job), 0n);
  return seconds > 0 ? Number(rendered) / seconds : null;
}
