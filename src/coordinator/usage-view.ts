import type { Adoption } from "../ledger/adoption.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { isoTime } from "../lib/iso-time.ts";
import type { EnforcerCounts } from "../quota/enforcer.ts";
import { quotaBytes } from "../quota/quota-bytes.ts";
import type { QuotaConfiguration } from "../quota/quota-configuration.ts";
import type { Trend } from "../quota/usage-trend.ts";
import type { Room, TileStore } from "../store/tile-store.ts";
import type { TileSetUsage, UsageView } from "./operations.ts";

const NO_ROOM: Room = { freeBytes: 0, totalBytes: 0, freeInodes: 0, totalInodes: 0 };

/** Returns the usage for `GET /api/v1/usage`: configured layers in their order, then layers no longer configured. */
export function usageView(
  from: {
    readonly ledger: Ledger;
    readonly store: TileStore;
    readonly quota: QuotaConfiguration;
    readonly layers: readonly string[];
    readonly adoption: Adoption;
    readonly trend: Trend | undefined;
    readonly counts: EnforcerCounts;
    /** Undefined: the file system has never answered. */
    readonly room: Room | undefined;
  },
  options: { readonly tileSets: boolean; readonly layer: string | undefined },
): UsageView {
  const { ledger, quota, adoption } = from;
  const own = new Map(quota.layerQuotas.map((q) => [q.layer, quotaBytes(q.quota)]));
  const incomplete = new Set([...ledger.tileSets()].filter((t) => !t.complete).map((t) => t.tileSet.layer));
  const kept = [...ledger.tileSets()].map(({ tileSet }) => tileSet.layer);
  const names = [...new Set([...from.layers, ...kept])].filter(
    (name) => options.layer === undefined || name === options.layer,
  );
  const { freeBytes, totalBytes, freeInodes, totalInodes } = from.room ?? NO_ROOM;
  const finite = (n: number): number | null => (Number.isFinite(n) ? n : null);
  const { total } = ledger;
  const limit = quota.enabled ? quotaBytes(quota.globalQuota) : null;
  return {
    total: { tiles: total.tiles, bytes: total.bytes },
    layers: names.map((layer) => {
      const { tiles, bytes, allocated } = ledger.sumOf(layer);
      const complete = !incomplete.has(layer) && !adoption.concerns(layer);
      return { layer, tiles, bytes, quota: own.get(layer) ?? null, allocatedBytes: allocated, complete };
    }),
    allocatedBytes: total.allocated,
    quota: limit,
    trend:
      from.trend === undefined
        ? null
        : {
            since: isoTime(from.trend.sinceMs),
            bytesPerDay: Math.round(from.trend.bytesPerDay),
            secondsUntilFull: limit === null ? null : secondsUntilFull(limit - total.bytes, from.trend.bytesPerDay),
          },
    disk: { freeBytes, totalBytes, freeInodes: finite(freeInodes), totalInodes: finite(totalInodes) },
    enforcement: { ...from.counts },
    adoption: adoption.progress(),
    ...(options.tileSets ? { tileSets: tileSetsOf(from, options.layer) } : {}),
  };
}

function secondsUntilFull(left: bigint, bytesPerDay: number): number | null {
  if (left <= 0n) return 0;
  return bytesPerDay > 0 ? Math.round((Number(left) / bytesPerDay) * 86_400) : null;
}

function tileSetsOf(
  { ledger, store }: { readonly ledger: Ledger; readonly store: TileStore },
  layer: string | undefined,
): TileSetUsage[] {
  return [...ledger.tileSets()]
    .filter(({ tileSet }) => layer === undefined || tileSet.layer === layer)
    .map(({ tileSet, sums }) => {
      const zooms = [...sums]
        .filter(([, sum]) => sum.tiles !== 0n)
        .sort(([a], [b]) => a - b)
        .map(([z, { tiles, bytes, allocated }]) => ({ z, tiles, bytes, allocatedBytes: allocated }));
      const all = (value: (zoom: (typeof zooms)[number]) => bigint): bigint =>
        zooms.reduce((sum, zoom) => sum + value(zoom), 0n);
      return {
        ...tileSet,
        parameters:
          tileSet.parametersId === "" ? {} : (store.parametersOf(tileSet.layer, tileSet.parametersId) ?? null),
        tiles: all((zoom) => zoom.tiles),
        bytes: all((zoom) => zoom.bytes),
        allocatedBytes: all((zoom) => zoom.allocatedBytes),
        zooms,
      };
    })
    .filter(({ tiles }) => tiles !== 0n);
}
