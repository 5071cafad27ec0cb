import { type UsedTile, type UsedTileSet, usedTileSet } from "../import/tile-use.ts";

/** The limits of a warm-up, calculated as if none of its tiles were stored. */
export interface WarmBudget {
  readonly maxTiles: number;
  readonly maxBytes: number | undefined;
  readonly maxSeconds: number | undefined;
}

/** The cost of a tile of a tile set; undefined: unknown. */
export interface TileCost {
  readonly bytes: number | undefined;
  readonly seconds: number | undefined;
}

/** A job to create. */
export interface WarmJob extends UsedTileSet {
  /** Names of tiles, most requested first. */
  readonly tiles: readonly string[];
  /** The number of requests for these tiles. */
  readonly requests: number;
}

export interface WarmPlan {
  readonly jobs: readonly WarmJob[];
  readonly tiles: number;
  readonly requests: number;
  /** Calculated from mean sizes and rates; undefined: unknown for every tile set. */
  readonly bytes: number | undefined;
  readonly seconds: number | undefined;
  /** The limit that ended the plan; null: the plan has all counted tiles. */
  readonly limitedBy: "tiles" | "bytes" | "minutes" | "jobs" | null;
}

/** The most tiles of one job: a request has at most 1 MiB, and a name up to 27 bytes. */
const TILES_PER_JOB = 35_000;
/** Limits the jobs, because free parameter values may produce many tile sets of a few tiles each. */
const MOST_JOBS = 1000;

/** Returns the mean of the known costs. It stands for the cost of a tile set whose cost is unknown. */
export function meanCost(costs: Iterable<TileCost>): TileCost {
  const all = [...costs];
  const mean = (of: (cost: TileCost) => number | undefined): number | undefined => {
    const known = all.flatMap((cost) => of(cost) ?? []);
    return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0) / known.length;
  };
  return { bytes: mean(({ bytes }) => bytes), seconds: mean(({ seconds }) => seconds) };
}

/** Plans jobs for the most requested tiles that fit the budget. */
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
