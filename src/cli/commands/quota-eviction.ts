import { quotaBytes } from "../../quota/quota-bytes.ts";
import type { Answer } from "../client/answer.ts";
import { bytesText } from "../output/text-table.ts";

type Quotas = Pick<Answer<"Quota">, "enabled" | "globalQuota" | "layerQuotas">;
type Usage = Pick<Answer<"Usage">, "quotaCount" | "total" | "bytesOnDisk" | "layers">;

/**
 * Returns what the clean-up after a change of the quota would evict, as a sentence; undefined: no more than the present
 * quota does.
 */
export function evictionText(before: Quotas, after: Quotas, usage: Usage): string | undefined {
  const bytes = excess(after, usage);
  if (bytes <= excess(before, usage)) return undefined;
  const used = total(usage);
  const share = Number(bytes) / Number(used);
  const tiles = Math.round(share * Number(usage.total.tiles));
  return `this would evict about ${bytesText(String(bytes))} of ${bytesText(String(used))} (about ${tiles} of ${usage.total.tiles} tiles)`;
}

/** Returns the bytes by which usage exceeds the quotas: those of layers, and then that of all layers. */
function excess({ enabled, globalQuota, layerQuotas }: Quotas, usage: Usage): bigint {
  if (!enabled) return 0n;
  const ofLayers = layerQuotas.map(({ layer, quota }) => {
    const found = usage.layers.find((one) => one.layer === layer);
    return found === undefined ? 0n : above(counted(found, usage), quotaBytes(quota));
  });
  const evicted = ofLayers.reduce((sum, bytes) => sum + bytes, 0n);
  return evicted + above(total(usage) - evicted, quotaBytes(globalQuota));
}

const above = (bytes: bigint, limit: bigint): bigint => (bytes > limit ? bytes - limit : 0n);
const counted = ({ bytes, bytesOnDisk }: Usage["layers"][number], { quotaCount }: Usage): bigint =>
  BigInt(quotaCount === "content" ? bytes : bytesOnDisk);
const total = ({ quotaCount, total: { bytes }, bytesOnDisk }: Usage): bigint =>
  BigInt(quotaCount === "content" ? bytes : bytesOnDisk);
