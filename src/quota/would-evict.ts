import type { LayerName } from "../layer/tile-set.ts";
import { addTo, emptySum, type Sum } from "../ledger/tile-sets/tile-set-record.ts";
import type { EvictionOptions } from "./configuration/eviction-options.ts";
import { type Limit, limitsOf, waterMarks } from "./configuration/limits.ts";
import type { QuotaConfiguration } from "./configuration/quota-configuration.ts";
import { countedSize } from "./configuration/quota-count.ts";

type Usage = Readonly<Sum>;

const plus = (a: Usage, b: Usage): Usage => {
  const sum = { ...a };
  addTo(sum, b);
  return sum;
};

/**
 * Returns the tiles and bytes that a clean-up would evict under a quota. The size that the quota counts is exact to a
 * cell; the other numbers assume tiles of the average size of the affected layers. Ignores pins and floors, which may
 * protect some of the counted tiles.
 * @param byLayer the usage of each layer with tiles
 */
export function wouldEvict(
  quota: QuotaConfiguration,
  options: Pick<EvictionOptions, "count" | "highWaterPercent" | "lowWaterPercent">,
  byLayer: ReadonlyMap<LayerName, Usage>,
): Usage {
  if (!quota.enabled) return emptySum();
  const counted = (usage: Usage): bigint => countedSize(usage, options.count);
  /** Returns the part of a usage whose counted size is `size`, at most the whole usage. */
  const part = (usage: Usage, size: bigint): Usage => {
    const whole = counted(usage);
    if (size >= whole) return usage;
    const share = (value: bigint): bigint => (value * size + whole - 1n) / whole;
    return { tiles: share(usage.tiles), bytes: share(usage.bytes), allocated: share(usage.allocated) };
  };
  const excess = (limit: Limit, used: bigint): bigint => {
    const { high, low } = waterMarks(limit, options);
    return used > high ? used - low : 0n;
  };
  const { ofLayer, global } = limitsOf(quota);
  let evicted = emptySum();
  let limited = emptySum();
  let others = emptySum();
  for (const [layer, usage] of byLayer) {
    const limit = ofLayer.get(layer);
    if (limit === undefined) others = plus(others, usage);
    else {
      const ofThis = part(usage, excess(limit, counted(usage)));
      evicted = plus(evicted, ofThis);
      limited = plus(limited, {
        tiles: usage.tiles - ofThis.tiles,
        bytes: usage.bytes - ofThis.bytes,
        allocated: usage.allocated - ofThis.allocated,
      });
    }
  }
  const rest = excess(global, counted(limited) + counted(others));
  const first = part(others, rest);
  return plus(plus(evicted, first), part(limited, rest - counted(first)));
}
