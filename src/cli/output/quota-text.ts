import type { Answer } from "../client/answer.ts";
import { textTable } from "./text-table.ts";

type Size = Answer<"Quota">["globalQuota"];

const sizeText = ({ value, units }: Size): string => `${value} ${units}`;

/** Formats the configuration of the disk quota. */
export function showQuota(quota: Answer<"Quota">): string {
  const { enabled, globalQuota, layerQuotas, globalExpirationPolicyName } = quota;
  const rows = layerQuotas.map(({ layer, quota: own, expirationPolicyName }) => [
    layer,
    sizeText(own),
    expirationPolicyName,
  ]);
  return [
    `The disk quota is ${enabled ? "enforced" : "not enforced"}: ${sizeText(globalQuota)}, ${globalExpirationPolicyName}.\n`,
    `Clean-up every ${quota.cacheCleanUpFrequency} ${quota.cacheCleanUpUnits.toLowerCase()}, ${quota.maxConcurrentCleanUps} layers at a time.\n`,
    ...(enabled ? [] : ["nuthatch quota set --enable enforces it.\n"]),
    ...(rows.length === 0 ? [] : [textTable(["layer", "quota", "policy"], rows)]),
  ].join("");
}
