import { type UsedTile, type UsedTileSet, usedTileSet } from "./tile-use.ts";

/** What a warm-up may come to, as if none of its tiles were kept. */
export interface WarmBudget {
  readonly maxTiles: number;
  readonly maxBytes: number | undefined;
  readonly maxSeconds: number | undefined;
}

/** What a tile of a tile set comes to; undefined: nobody knows. */
export interface TileCost {
  readonly bytes: number | undefined;
  readonly seconds: number | undefined;
}

/** A job to be made. */
export interface WarmJob extends UsedTileSet {
  /** The most used first. */
  readonly tiles: readonly string[];
  /** For these tiles. */
  readonly requests: number;
}

export interface WarmPlan {
  readonly jobs: readonly WarmJob[];
  readonly tiles: number;
  readonly requests: number;
  /** At the mean sizes and rates; undefined: not known of any. */
  readonly bytes: number | undefined;
  readonly seconds: number | undefined;
  /** What ended it; null: all tiles that were counted are in it. */
  readonly limitedBy: "tiles" | "bytes" | "minutes" | "jobs" | null;
}

/** Tiles of one job at most: a request has 1 MiB, a name up to 27 bytes. */
const TILES_PER_JOB = 35_000;
/** Parameters may be anything: tile sets of a few tiles each. */
const MOST_JOBS = 1000;

/** What costs no one knows are taken to cost what the others do. */
export function meanCost(costs: Iterable<TileCost>): TileCost {
  const all = [...costs];
  const mean = (of: (cost: TileCost) => number | undefined): number | undefined => {
    const known = all.flatMap((cost) => of(cost) ?? []);
    return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0) / known.length;
  };
  return { bytes: mean(({ bytes }) => bytes), seconds: mean(({ seconds }) => seconds) };
}

/** The most used tiles that fit the budget, by jobs. */
export function planWarm(
  used: readonly UsedTile[],
  { maxTiles, maxBytes, maxSeconds }: WarmBudget,
  costs: ReadonlyMap<string, TileCost>,
): WarmPlan {
  const otherwise = meanCost(costs.values());
  const open = new Map<string, { tiles: string[]; requests: number }>();
  const jobs: { readonly tileSet: string; readonly tiles: string[]; requests: number }[] = [];
  let [tiles, requests, bytes, seconds] = [0, 0, 0, 0];
  let limitedBy: WarmPlan["limitedBy"] = null;
  for (const one of used) {
    const cost = costs.get(one.tileSet);
    const tileBytes = cost?.bytes ?? otherwise.bytes ?? 0;
    const tileSeconds = cost?.seconds ?? otherwise.seconds ?? 0;
    let job = open.get(one.tileSet);
    const needsJob = job === undefined || job.tiles.length >= TILES_PER_JOB;
    if (tiles >= maxTiles) limitedBy = "tiles";
    else if (maxBytes !== undefined && bytes + tileBytes > maxBytes) limitedBy = "bytes";
    else if (maxSeconds !== undefined && seconds + tileSeconds > maxSeconds) limitedBy = "minutes";
    else if (needsJob && jobs.length >= MOST_JOBS) limitedBy = "jobs";
    if (limitedBy !== null) break;
    if (job === undefined || needsJob) {
      const made = { tileSet: one.tileSet, tiles: [], requests: 0 };
      jobs.push(made);
      open.set(one.tileSet, made);
      job = made;
    }
    job.tiles.push(one.tile);
    job.requests += one.requests;
    tiles++;
    requests += one.requests;
    bytes += tileBytes;
    seconds += tileSeconds;
  }
  return {
    jobs: jobs.map(({ tileSet, ...job }) => ({ ...usedTileSet(tileSet), ...job })),
    tiles,
    requests,
    bytes: otherwise.bytes === undefined ? undefined : Math.round(bytes),
    seconds: otherwise.seconds === undefined ? undefined : Math.round(seconds),
    limitedBy,
  };
}
