import type { LayerName } from "../../layer/tile-set.ts";
import { onceEach } from "../../lib/once-each.ts";
import type { EvictionOptions } from "./eviction-options.ts";
import { quotaBytes } from "./quota-bytes.ts";
import type { ExpirationPolicy, LayerQuota, QuotaConfiguration } from "./quota-configuration.ts";

/** A limit, and the layers whose tiles are evicted for it, stage by stage. */
export interface Limit {
  readonly name: string;
  /** The layer that the limit applies to. Undefined if it applies to all layers together. */
  readonly layer: LayerName | undefined;
  readonly bytes: bigint;
  readonly policy: ExpirationPolicy;
  readonly stages: readonly ((layer: LayerName) => boolean)[];
}

const layerLimit = ({ layer, expirationPolicyName, quota }: LayerQuota): Limit => ({
  name: `layer ${layer}`,
  layer,
  bytes: quotaBytes(quota),
  policy: expirationPolicyName,
  stages: [(other) => other === layer],
});

/** Returns the usage above which a clean-up for a limit begins, and the usage at which it ends. */
export function waterMarks(
  { bytes }: Limit,
  { highWaterPercent, lowWaterPercent }: Pick<EvictionOptions, "highWaterPercent" | "lowWaterPercent">,
): { readonly high: bigint; readonly low: bigint } {
  const share = (percent: number): bigint => (bytes * BigInt(Math.round(percent * 1000))) / 100_000n;
  return { high: share(highWaterPercent), low: share(lowWaterPercent) };
}

/** Returns the limits of a configuration. Returns the same object for the same configuration. */
export const limitsOf = onceEach(({ globalQuota, globalExpirationPolicyName, layerQuotas }: QuotaConfiguration) => {
  const ofLayer: ReadonlyMap<LayerName, Limit> = new Map(layerQuotas.map((quota) => [quota.layer, layerLimit(quota)]));
  const global: Limit = {
    name: "all layers",
    layer: undefined,
    bytes: quotaBytes(globalQuota),
    policy: globalExpirationPolicyName,
    // Tiles of layers without a layer quota are evicted first. Tiles of other layers are evicted only if that is not
    // enough.
    stages: [(layer) => !ofLayer.has(layer), (layer) => ofLayer.has(layer)],
  };
  return { ofLayer, global };
});
