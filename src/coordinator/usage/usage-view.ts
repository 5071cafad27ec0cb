import type { LayerName } from "../../layer/tile-set.ts";
import { isoTime } from "../../lib/time/iso-time.ts";
import { quotaBytes } from "../../quota/configuration/quota-bytes.ts";
import type { QuotaConfiguration } from "../../quota/configuration/quota-configuration.ts";
import { countedSize, type QuotaCount } from "../../quota/configuration/quota-count.ts";
import type { EnforcerCounts } from "../../quota/enforcer.ts";
import type { Trend } from "../../quota/usage-trend.ts";
import type { DiskSpace } from "../../store/tile-store.ts";
import type { BuildContext } from "../coordinator-parts.ts";
import type { UsageView } from "./usage-documents.ts";

const NO_DISK_SPACE: DiskSpace = { freeBytes: 0, totalBytes: 0, freeInodes: 0, totalInodes: 0 };

/** Returns the usage of layers for `GET /api/v1/usage`. */
export function usageView(
  from: Pick<BuildContext, "ledger" | "store" | "adoption"> & {
    readonly quota: QuotaConfiguration;
    readonly count: QuotaCount;
    readonly layers: readonly LayerName[];
    readonly trend: Trend | undefined;
    readonly counts: EnforcerCounts;
    /** The space on the disk. Undefined until the file system has answered. */
    readonly diskSpace: DiskSpace | undefined;
  },
  options: { readonly tileSets: boolean; readonly layer: LayerName | undefined },
): UsageView {
  const { ledger, quota, count, adoption } = from;
  const own = new Map(quota.layerQuotas.map((q) => [q.layer, quotaBytes(q.quota)]));
  const incomplete = new Set([...ledger.tileSets()].filter((t) => !t.complete).map((t) => t.tileSet.layer));
  const names = from.layers.filter((name) => options.layer === undefined || name === options.layer);
  const { freeBytes, totalBytes, freeInodes, totalInodes } = from.diskSpace ?? NO_DISK_SPACE;
  const finite = (n: number): number | null => (Number.isFinite(n) ? n : null);
  const { total } = ledger.sums;
  const limit = quota.enabled ? quotaBytes(quota.globalQuota) : null;
  return {
    total: { tiles: total.tiles, bytes: total.bytes },
    layers: names.map((layer) => {
      const { tiles, bytes, allocated } = ledger.sums.of(layer);
      const complete = !incomplete.has(layer) && !adoption.concerns(layer);
      return { layer, tiles, bytes, quota: own.get(layer) ?? null, bytesOnDisk: allocated, complete };
    }),
    bytesOnDisk: total.allocated,
    quota: limit,
    quotaCount: count,
    trend:
      from.trend === undefined
        ? null
        : {
            since: isoTime(from.trend.sinceMs),
            bytesPerDay: Math.round(from.trend.bytesPerDay),
            secondsUntilFull:
              limit === null ? null : secondsUntilFull(limit - countedSize(total, count), from.trend.bytesPerDay),
          },
    disk: { freeBytes, totalBytes, freeInodes: finite(freeInodes), totalInodes: finite(totalInodes) },
    enforcement: from.counts,
    adoption: adoption.progress(),
    ...(options.tileSets ? { tileSets: tileSetsOf(from, options.layer) } : {}),
  };
}

function secondsUntilFull(left: bigint, bytesPerDay: number): number | null {
  if (left <= 0n) return 0;
  return bytesPerDay > 0 ? Math.round((Number(left) / bytesPerDay) * 86_400) : null;
}

function tileSetsOf(
  { ledger, store }: Pick<BuildContext, "ledger" | "store">,
  layer: LayerName | undefined,
): NonNullable<UsageView["tileSets"]> {
  return [...ledger.tileSets()]
    .filter(({ tileSet }) => layer === undefined || tileSet.layer === layer)
    .map(({ tileSet, sums }) => {
      const zooms = [...sums]
        .filter(([, sum]) => sum.tiles !== 0n)
        .sort(([a], [b]) => a - b)
        .map(([z, { tiles, bytes, allocated }]) => ({ z, tiles, bytes, bytesOnDisk: allocated }));
      const all = (value: (zoom: (typeof zooms)[number]) => bigint): bigint =>
        zooms.reduce((sum, zoom) => sum + value(zoom), 0n);
      return {
        ...tileSet,
        parameters:
          tileSet.parametersId === "" ? {} : (store.parametersOf(tileSet.layer, tileSet.parametersId) ?? null),
        tiles: all((zoom) => zoom.tiles),
        bytes: all((zoom) => zoom.bytes),
        bytesOnDisk: all((zoom) => zoom.bytesOnDisk),
        zooms,
      };
    })
    .filter(({ tiles }) => tiles !== 0n);
}
