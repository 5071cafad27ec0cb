import { matrixRect, rectCount, type TileRect } from "../grid/grid-set.ts";
import { indexInSteps } from "../grid/selection.ts";
import type { TileSelection } from "../grid/tile-selection.ts";
import { coverageAt, findSubset, type Layer } from "../layer/layer.ts";
import type { KnownTileSet, Ledger } from "../ledger/ledger.ts";
import { quotaBytes } from "../quota/quota-bytes.ts";
import type { QuotaConfiguration } from "../quota/quota-configuration.ts";
import { combinationsOf } from "./combination.ts";
import type { JobCounts } from "./job-counts.ts";
import type { JobRequest, JobView } from "./job-request.ts";

/** What a seed or reseed would come to. Null: there is no telling. */
export interface EstimateView {
  readonly tiles: bigint;
  /** Expired ones too. */
  readonly kept: bigint | null;
  readonly missing: bigint | null;
  /** Of the tiles it would render, at the mean size by level of those that are kept of its tile sets. */
  readonly bytes: bigint | null;
  /** What the store would grow by is below the quotas of layer and server; null also without a quota. */
  readonly fitsQuota: boolean | null;
  readonly fitsDisk: boolean | null;
  /** At which the last jobs of the layer have rendered tiles, as far as the rate limit allows. */
  readonly tilesPerSecond: number | null;
  readonly seconds: number | null;
  readonly zooms: readonly {
    readonly z: number;
    readonly tiles: bigint;
    readonly kept: bigint | null;
    readonly missing: bigint | null;
  }[];
}

export interface EstimateSources {
  /** All its tiles by zoom. */
  readonly totals: JobCounts;
  readonly ledger: Ledger;
  /** Undefined: it has been removed meanwhile. */
  readonly layer: Layer | undefined;
  /** Whether all tiles of the layer have been counted. */
  readonly isCounted: boolean;
  readonly quota: QuotaConfiguration;
  readonly freeBytes: number;
  /** The last ones of the layer. */
  readonly jobs: readonly JobView[];
}

/** A level that holds no more tiles than these is counted block by block: at most so many are read. */
const FEW = 10_000n;

/** So many tiles of a level tell what its tiles take; where there are fewer, and fewer than are to be rendered, those of the levels around it help. */
const SAMPLE = 100n;

/** An estimate, and by how many bytes the store would grow. */
export interface Estimated {
  readonly view: EstimateView;
  readonly growth: bigint | null;
}

/** By arithmetic and sums: it takes as long for the world as for a village. Pauses where it counts blocks. */
export function* estimate(request: JobRequest, from: EstimateSources): Generator<undefined, Estimated> {
  const index = request.selection === undefined ? undefined : yield* indexInSteps(request.selection);
  const known = tileSetsOf(request, from.ledger);
  const zooms: EstimateView["zooms"][number][] = [];
  // A seed or reseed has one grid set: no zoom comes twice.
  for (const rect of request.ranges.flatMap(({ rects }) => rects)) {
    const tiles = from.totals.of(rect.z).total;
    // What a job over what exists counts is kept.
    const kept = request.onlyExisting === true ? tiles : yield* storedIn(known, rect, index, from);
    zooms.push({ z: rect.z, tiles, kept, missing: kept === null ? null : tiles - kept });
  }
  const tiles = zooms.reduce((sum, zoom) => sum + zoom.tiles, 0n);
  const kept = zooms.reduce<bigint | null>((sum, zoom) => addCounts(sum, zoom.kept), 0n);
  const missing = kept === null ? null : tiles - kept;
  const added = zooms.map((zoom) => ({ z: zoom.z, tiles: (missing === null ? null : zoom.missing) ?? zoom.tiles }));
  const renderedOf = request.type === "seed" ? added : zooms;
  const rendered = renderedOf.reduce((sum, zoom) => sum + zoom.tiles, 0n);
  const growth = bytesOf(added, known);
  const rate = limitedRate(rateOf(from.jobs), request.terms?.rateLimit ?? null);
  const view = {
    tiles,
    kept,
    missing,
    bytes: bytesOf(renderedOf, known),
    fitsQuota: growth === null ? null : fitsQuota(new Map([[request.layer, growth]]), from),
    fitsDisk: growth === null ? null : fitsDisk(growth, from),
    tilesPerSecond: rate === null ? null : Math.round(rate * 100) / 100,
    seconds: rate === null ? null : Math.min(Number.MAX_SAFE_INTEGER, Math.round(Number(rendered) / rate)),
    zooms,
  };
  return { view, growth };
}

/** Those that a job renders and the ledger knows: all of its one grid set. */
function tileSetsOf({ layer, gridSet, format, ...request }: JobRequest, ledger: Ledger): readonly KnownTileSet[] {
  const ids = new Set(combinationsOf(request)?.map(({ parametersId }) => parametersId));
  return [...ledger.tileSets()].filter(
    ({ tileSet: t }) => t.layer === layer && t.gridSet === gridSet && t.format === format && ids.has(t.parametersId),
  );
}

/** Null: there is no telling of one of them. */
export const addCounts = (a: bigint | null, b: bigint | null): bigint | null =>
  a === null || b === null ? null : a + b;

/** Null where neither sums nor a few blocks tell it. */
function* storedIn(
  known: readonly KnownTileSet[],
  rect: TileRect,
  index: TileSelection | undefined,
  from: EstimateSources,
): Generator<undefined, bigint | null> {
  if (!from.isCounted) return null;
  let sum = 0n;
  for (const one of known) {
    const kept = yield* storedOf(one, rect, index, from);
    if (kept === null) return null;
    sum += kept;
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
  // Nothing is stored outside the coverage, unless that was larger once: then the sum may be more than fits in.
  return coverage !== undefined && all === rectCount(coverage) && sum <= all ? sum : null;
}

interface Stored {
  readonly z: number;
  readonly tiles: bigint;
  readonly bytes: bigint;
}

function bytesOf(zooms: readonly Pick<Stored, "z" | "tiles">[], known: readonly KnownTileSet[]): bigint | null {
  const kept: Stored[] = [];
  for (const { sums } of known)
    for (const [z, { tiles, bytes }] of sums) if (tiles > 0n) kept.push({ z, tiles, bytes });
  if (kept.length === 0) return null;
  return zooms.reduce((sum, { z, tiles }) => {
    const sample = sampleAt(z, tiles, kept);
    return sum + (tiles * sample.bytes) / sample.tiles;
  }, 0n);
}

/** The levels nearest to one, as many as it takes: what deep tiles take says little of high ones. */
function sampleAt(z: number, wanted: bigint, kept: readonly Stored[]): Omit<Stored, "z"> {
  const nearest = [...kept].sort((a, b) => Math.abs(a.z - z) - Math.abs(b.z - z));
  const sample = { tiles: 0n, bytes: 0n };
  for (const { tiles, bytes } of nearest) {
    if (sample.tiles >= SAMPLE || (sample.tiles > 0n && sample.tiles >= wanted)) break;
    sample.tiles += tiles;
    sample.bytes += bytes;
  }
  return sample;
}

/** @param growths by layer */
export function fitsQuota(
  growths: ReadonlyMap<string, bigint>,
  { ledger, quota }: Pick<EstimateSources, "ledger" | "quota">,
): boolean | null {
  if (!quota.enabled) return null;
  const all = [...growths.values()].reduce((sum, growth) => sum + growth, 0n);
  const fitsLayers = quota.layerQuotas.every((own) => {
    const growth = growths.get(own.layer);
    return growth === undefined || ledger.sumOf(own.layer).bytes + growth <= quotaBytes(own.quota);
  });
  return fitsLayers && ledger.total.bytes + all <= quotaBytes(quota.globalQuota);
}

const limitedRate = (rate: number | null, limit: number | null): number | null =>
  limit === null ? rate : Math.min(rate ?? limit, limit);
export const fitsDisk = (growth: bigint, { freeBytes }: Pick<EstimateSources, "freeBytes">): boolean =>
  growth <= BigInt(Math.floor(freeBytes));

/** Tiles rendered per second of work: what was skipped took no rendering. */
function rateOf(jobs: readonly JobView[]): number | null {
  const renderedBy = ({ type, tiles }: JobView): bigint => (type === "truncate" ? 0n : tiles.stored);
  const drawing = jobs.filter((job) => renderedBy(job) > 0n);
  const seconds = drawing.reduce((sum, job) => sum + job.secondsWorked, 0);
  const rendered = drawing.reduce((sum, job) => sum + renderedBy(job), 0n);
  return seconds > 0 ? Number(rendered) / seconds : null;
}
