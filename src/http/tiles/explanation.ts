import { type TileRequest, tileSetOf } from "../../cache/tile-reader.ts";
import type { TileState } from "../../cache/tile-state.ts";
import { corners, extentOf } from "../../grid/extent.ts";
import {
  type Extent,
  extentsOverlap,
  type GridSetName,
  rectExtent,
  type TileIndex,
  type TileX,
  type TileY,
  tileExtent,
  type Zoom,
} from "../../grid/grid-set.ts";
import { valueAt } from "../../layer/by-zoom.ts";
import { type Parameters, parametersId } from "../../layer/filter/parameter-filter.ts";
import { formatsBeside, type Layer } from "../../layer/layer.ts";
import type { LayerName, TileSet } from "../../layer/tile-set.ts";
import { isoTime } from "../../lib/time/iso-time.ts";
import { waitSeconds } from "../../lib/time/wait-seconds.ts";
import type { JobView } from "../../plan/job/job-documents.ts";
import type { JobPage } from "../../plan/job/job-request.ts";
import { chooser, resolveSets } from "../../plan/parameters/value-choice.ts";
import { chosenSetIn } from "../api/jobs/value-choice-codec.ts";
import type { OutsideTile } from "./tile-parts.ts";

export interface ExplanationParts {
  readonly inspect: (request: TileRequest) => Promise<TileState>;
  /** Returns jobs, the newest first. */
  readonly jobs: (filter: JobPage) => Promise<readonly JobView[]>;
  /** Returns when the quota evicted a tile, ms since 1970. Undefined if it did not recently. */
  readonly evictedAt: (tileSet: TileSet, tile: TileIndex) => Promise<number | undefined>;
  /** Returns milliseconds since 1970. */
  readonly now: () => number;
}

/** The main fields of a job; `/api/v1/jobs/{id}` has all fields. */
interface ExplainingJob {
  readonly id: number;
  readonly type: JobView["type"];
  readonly state: JobView["state"];
  readonly startedAt: string | null;
  readonly endedAt: string | null;
}

/** The answer to `?explain`. Times are ISO 8601 in UTC; y counts from the bottom. */
export interface Explanation {
  readonly layer: LayerName;
  readonly gridSet: GridSetName;
  readonly format: string;
  /** y is null if the grid set lacks the zoom. */
  readonly tile: { readonly x: TileX; readonly y: TileY | null; readonly z: Zoom };
  readonly bounds: readonly [number, number, number, number] | null;
  readonly parameters: { readonly id: string; readonly values: Readonly<Record<string, string>> };
  readonly state: "kept" | "expired" | "missing" | "outside";
  /**
   * Why there is no valid tile. Null if there is one. `no_tile`: the store has a mark that the upstream has no tile.
   */
  readonly reason:
    | OutsideTile["why"]
    | "no_tile"
    | "not_stored"
    | "evicted"
    | "truncated"
    | "failing"
    | "expired"
    | null;
  /** The state and its reason in words. */
  readonly message: string;
  readonly inMemory: boolean;
  readonly store: {
    /** The path of the tile relative to the root of the store. */
    readonly key: string;
    readonly bytes: number | null;
    readonly modifiedAt: string | null;
    readonly ageSeconds: number | null;
  } | null;
  readonly expireCacheSeconds: number;
  readonly drawing: boolean;
  /** The metatile that contains the tile: [minX, minY, maxX, maxY]. */
  readonly metatile: readonly [number, number, number, number] | null;
  /** A seed or reseed of this range that was running when the tile was written. */
  readonly writtenBy: ExplainingJob | null;
  /** The time of the last truncation of the layer, or of a part of it, since the start of the server. */
  readonly layerTruncatedAt: string | null;
  /** The last job that truncated this tile. */
  readonly truncatedBy: ExplainingJob | null;
  /**
   * The time at which the quota evicted the tile. Null if the tile is stored, or was not evicted in the last hour and
   * since the last truncation.
   */
  readonly evictedAt: string | null;
}

/** The number of jobs of a layer that are searched, newest first. */
const JOBS_LOOKED_AT = 200;
/** The tolerance between times, because times of files are coarser than times of jobs. */
const CLOCK_SLACK_MS = 2_000;

/** Explains the state of a tile. Renders nothing. */
export async function explainTile(parts: ExplanationParts, request: TileRequest): Promise<Explanation> {
  const state = await parts.inspect(request);
  const jobs = (await parts.jobs({ layer: request.layer.name, limit: JOBS_LOOKED_AT })).filter((job) =>
    touches(job, request, state),
  );
  const { stored, truncatedMs } = state;
  const writtenBy =
    stored === undefined ? undefined : jobs.find((job) => job.type !== "truncate" && ran(job, stored.modifiedMs));
  const truncatedBy = jobs.find((job) => job.type === "truncate" && job.startedAt !== null);
  const ageSeconds = stored === undefined ? null : Math.max(0, Math.floor((parts.now() - stored.modifiedMs) / 1000));
  const lastTruncatedMs = Math.max(truncatedMs ?? 0, truncatedBy === undefined ? 0 : latestMs(truncatedBy));
  const evictedAt = stored === undefined ? await parts.evictedAt(tileSetOf(request), request.index) : undefined;
  const evictedMs = (evictedAt ?? 0) > lastTruncatedMs ? evictedAt : undefined;
  return {
    ...identityOf(request),
    ...verdict(state, { ageSeconds, evictedMs, truncated: lastTruncatedMs > 0 }, parts.now()),
    inMemory: state.inMemory,
    store: {
      key: state.key,
      bytes: stored?.bytes ?? null,
      modifiedAt: stored === undefined ? null : isoTime(stored.modifiedMs),
      ageSeconds,
    },
    expireCacheSeconds: valueAt(request.layer.expireCacheSeconds, request.index.z),
    drawing: state.drawing,
    metatile: state.metatile === undefined ? null : corners(state.metatile),
    writtenBy: writtenBy === undefined ? null : brief(writtenBy),
    layerTruncatedAt: truncatedMs === undefined ? null : isoTime(truncatedMs),
    truncatedBy: truncatedBy === undefined ? null : brief(truncatedBy),
    evictedAt: evictedMs === undefined ? null : isoTime(evictedMs),
  };
}

/** Explains a tile that the layer does not offer, without reading the store or the jobs. */
export function explainOutside({ request, why }: OutsideTile, message: string): Explanation {
  return {
    ...identityOf(request),
    state: "outside",
    reason: why,
    message,
    inMemory: false,
    store: null,
    expireCacheSeconds: valueAt(request.layer.expireCacheSeconds, request.index.z),
    drawing: false,
    metatile: null,
    writtenBy: null,
    layerTruncatedAt: null,
    truncatedBy: null,
    evictedAt: null,
  };
}

function identityOf({ layer, subset, format, parameters, index }: TileRequest) {
  const { gridSet } = subset;
  const extent = gridSet.matrices[index.z] === undefined ? undefined : tileExtent(gridSet, index);
  return {
    layer: layer.name,
    gridSet: gridSet.id,
    format: format.mimeType,
    tile: { x: index.x, y: extent === undefined ? null : index.y, z: index.z },
    bounds: extent === undefined ? null : corners(extent),
    parameters,
  };
}

interface TileHistory {
  /** The age of the stored tile. Null if the tile is not stored. */
  readonly ageSeconds: number | null;
  readonly evictedMs: number | undefined;
  readonly truncated: boolean;
}

function verdict(
  { stored, drawing, failing }: TileState,
  { ageSeconds, evictedMs, truncated }: TileHistory,
  nowMs: number,
): Pick<Explanation, "state" | "reason" | "message"> {
  const what =
    stored?.isNoTile === true ? "the map server's answer that there is no tile here" : `${stored?.bytes} bytes`;
  if (stored !== undefined && !stored.expired) {
    const message = `Kept: ${what}, written ${ageSeconds} seconds ago.`;
    return { state: "kept", reason: stored.isNoTile ? "no_tile" : null, message };
  }
  const next = drawing
    ? "It is being rendered."
    : failing === undefined
      ? "The next request renders it."
      : `The next request to the map server follows in ${waitSeconds(failing.untilMs - nowMs)} seconds.`;
  if (stored !== undefined) {
    const message = `Expired: ${what}, written ${ageSeconds} seconds ago. ${next}`;
    return { state: "expired", reason: "expired", message };
  }
  if (failing !== undefined)
    return {
      state: "missing",
      reason: "failing",
      message: `Not stored: its last render failed (${failing.message}). ${next}`,
    };
  if (evictedMs !== undefined) {
    const seconds = Math.max(0, Math.floor((nowMs - evictedMs) / 1000));
    const message = `Not stored: the disk quota evicted it ${seconds} seconds ago. ${next}`;
    return { state: "missing", reason: "evicted", message };
  }
  return truncated
    ? { state: "missing", reason: "truncated", message: `Not stored since the last truncation. ${next}` }
    : { state: "missing", reason: "not_stored", message: `Not stored yet, or evicted. ${next}` };
}

/** Returns whether the range of a job contains a tile. A seed writes whole metatiles. */
function touches(
  job: JobView,
  { layer, subset, format, parameters, index }: TileRequest,
  { metatile }: TileState,
): boolean {
  const { gridSet } = subset;
  if (job.gridSet !== null && job.gridSet !== gridSet.id) return false;
  if (job.format !== null && job.format !== format.mimeType && !fillsBeside(job, layer, format.mimeType)) return false;
  if (job.parameters !== null && idOf(job.parameters) !== parameters.id) return false;
  if (job.parameterSets !== null && !isAmong(job.parameterSets, layer, parameters)) return false;
  if (index.z < job.zoomStart || index.z > job.zoomStop) return false;
  if (job.bounds === null) return true;
  const rendered: Extent =
    job.type === "truncate" || metatile === undefined ? tileExtent(gridSet, index) : rectExtent(gridSet, metatile);
  return extentsOverlap(extentOf(job.bounds), rendered);
}

/** Returns whether a job of another format also stores this format, because one render gives both. */
const fillsBeside = ({ type, format }: JobView, layer: Layer, mimeType: string): boolean =>
  type !== "truncate" && format !== null && formatsBeside(layer, format).some((beside) => beside === mimeType);

function isAmong(sets: NonNullable<JobView["parameterSets"]>, layer: Layer, { values }: Parameters): boolean {
  const requested = sets.flatMap((set) => chosenSetIn(set) ?? []);
  // The ages are absolute times, so the current time is not needed.
  const chosen = resolveSets(requested, Number.POSITIVE_INFINITY);
  return chosen.ok && chooser(chosen.value, layer.parameterFilters)(values);
}

const idOf = (values: Readonly<Record<string, string>>): string =>
  Object.keys(values).length === 0 ? "" : parametersId(values);

function ran({ startedAt, endedAt }: JobView, atMs: number): boolean {
  if (startedAt === null || Date.parse(startedAt) > atMs + CLOCK_SLACK_MS) return false;
  return endedAt === null || Date.parse(endedAt) >= atMs - CLOCK_SLACK_MS;
}

/** Returns when a job ended, or began if it has not ended, ms since 1970. */
const latestMs = ({ startedAt, endedAt }: JobView): number => Date.parse(endedAt ?? startedAt ?? "1970-01-01");

const brief = ({ id, type, state, startedAt, endedAt }: JobView): ExplainingJob => ({
  id,
  type,
  state,
  startedAt,
  endedAt,
});
