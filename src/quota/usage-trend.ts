import type { LayerName } from "../layer/tile-set.ts";
import type { Sum } from "../ledger/tile-sets/tile-set-record.ts";
import { bigInt, type Database, int } from "../state/database.ts";
import { upsert } from "../state/statements.ts";
import type { Tables } from "../state/tables.ts";
import { countedSize, type QuotaCount } from "./configuration/quota-count.ts";

/** `usage_sample.layers` is the number of layers that were sampled with the sample; null if no layers were sampled. */
export const usageTrendTables: Tables = `
  CREATE TABLE usage_sample (
    at_ms INTEGER PRIMARY KEY, bytes INTEGER NOT NULL, allocated INTEGER, tiles INTEGER, layers INTEGER
  );
  CREATE TABLE usage_layer_sample (
    at_ms INTEGER NOT NULL, layer TEXT NOT NULL,
    tiles INTEGER NOT NULL, bytes INTEGER NOT NULL, allocated INTEGER NOT NULL,
    PRIMARY KEY (at_ms, layer)
  ) WITHOUT ROWID;`;

/** The usage of all layers together, or of one layer. */
type Usage = Readonly<Sum>;

export interface Trend {
  readonly sinceMs: number;
  readonly bytesPerDay: number;
}

/** The usage at a time. */
export interface UsageSample extends Usage {
  readonly atMs: number;
}

const SAMPLE_MS = 10 * 60_000;
const LAYERS_MS = 60 * 60_000;
const DAY_MS = 86_400_000;
/** The growth of a shorter time, such as that of one seed, says nothing about a day. */
const LEAST_TREND_MS = 6 * 60 * 60_000;
const STORED_MS = 30 * DAY_MS;

/** The most layers of one sample: the layers with the most bytes. Thirty days of this many layers take some 15 MB. */
const MOST_LAYERS = 300;

export interface UsageHistoryQuery {
  /** The name of a layer. Undefined for the sum of all layers. */
  readonly layer: LayerName | undefined;
  /** ms since 1970. */
  readonly sinceMs: number;
  readonly stepMs: number;
}

/**
 * Records the growth of usage: one sample every ten minutes, and one sample of the layers every hour, for thirty days.
 */
export class UsageTrend {
  readonly #db: Database;
  #lastMs: number;
  #lastLayersMs: number;

  constructor(db: Database) {
    this.#db = db;
    const last = (condition: string): number => {
      const row = db.prepare(`SELECT at_ms FROM usage_sample WHERE ${condition} ORDER BY at_ms DESC LIMIT 1`).get();
      return row === undefined ? 0 : int(row, "at_ms");
    };
    this.#lastMs = last("1 = 1");
    this.#lastLayersMs = last("layers IS NOT NULL");
  }

  /** Adds a sample. Runs inside the caller's transaction. Does nothing if the last sample is recent. */
  sample({ tiles, bytes, allocated }: Usage, byLayer: ReadonlyMap<LayerName, Usage>, nowMs: number): void {
    if (nowMs - this.#lastMs < SAMPLE_MS) return;
    this.#lastMs = nowMs;
    const layers = nowMs - this.#lastLayersMs < LAYERS_MS ? null : this.#sampleLayers(byLayer, nowMs);
    upsert(this.#db, "usage_sample", ["at_ms"], { at_ms: nowMs, tiles, bytes, allocated, layers });
    for (const table of ["usage_sample", "usage_layer_sample"])
      this.#db.prepare(`DELETE FROM ${table} WHERE at_ms < ?`).run(nowMs - STORED_MS);
  }

  /** Returns the number of layers that were sampled. */
  #sampleLayers(byLayer: ReadonlyMap<LayerName, Usage>, nowMs: number): number {
    this.#lastLayersMs = nowMs;
    const largest = [...byLayer]
      .filter(([, { tiles }]) => tiles > 0n)
      .sort(([, a], [, b]) => Number(b.bytes - a.bytes))
      .slice(0, MOST_LAYERS);
    for (const [layer, { tiles, bytes, allocated }] of largest)
      upsert(this.#db, "usage_layer_sample", ["at_ms", "layer"], { at_ms: nowMs, layer, tiles, bytes, allocated });
    return largest.length;
  }

  /**
   * Returns the last sample of each step since a time, oldest first. A layer without a value in a sample had no tiles.
   * But if the sample has the most layers that fit, the layer's usage is unknown, and the result omits the sample.
   * @param layer undefined: all layers together
   */
  samples({ layer, sinceMs, stepMs }: UsageHistoryQuery): readonly UsageSample[] {
    const last = "max(at_ms) OVER (PARTITION BY at_ms / CAST(? AS BIGINT)) AS last_ms";
    const ofLayer = `SELECT s.at_ms AS at_ms, coalesce(l.tiles, 0) AS tiles, coalesce(l.bytes, 0) AS bytes,
        coalesce(l.allocated, 0) AS allocated
      FROM usage_sample s LEFT JOIN usage_layer_sample l ON l.at_ms = s.at_ms AND l.layer = ?
      WHERE s.at_ms >= ? AND (l.layer IS NOT NULL OR s.layers < ${MOST_LAYERS})`;
    const ofAll = "SELECT at_ms, tiles, bytes, allocated FROM usage_sample WHERE at_ms >= ?";
    const rows = this.#db
      .prepare(
        `SELECT at_ms, tiles, bytes, allocated
         FROM (SELECT at_ms, tiles, bytes, allocated, ${last} FROM (${layer === undefined ? ofAll : ofLayer}) AS sampled) AS steps
         WHERE at_ms = last_ms ORDER BY at_ms`,
        { bigints: true },
      )
      .all(stepMs, ...(layer === undefined ? [] : [layer]), sinceMs);
    return rows.map((row) => ({
      atMs: int(row, "at_ms"),
      tiles: bigInt(row, "tiles"),
      bytes: bigInt(row, "bytes"),
      allocated: bigInt(row, "allocated"),
    }));
  }

  /**
   * Returns the trend of the counted size since the oldest sample of the last day. Undefined in the first six hours.
   */
  view(usage: Usage, count: QuotaCount, nowMs: number): Trend | undefined {
    const column = count === "content" ? "bytes" : "allocated";
    const row = this.#db
      .prepare(`SELECT at_ms, ${column} AS size FROM usage_sample WHERE at_ms >= ? ORDER BY at_ms LIMIT 1`, {
        bigints: true,
      })
      .get(nowMs - DAY_MS);
    if (row === undefined) return undefined;
    const sinceMs = int(row, "at_ms");
    if (nowMs - sinceMs < LEAST_TREND_MS) return undefined;
    const grown = countedSize(usage, count) - bigInt(row, "size");
    return { sinceMs, bytesPerDay: (Number(grown) / (nowMs - sinceMs)) * DAY_MS };
  }
}
