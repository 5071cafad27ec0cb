import type { Received } from "../client/answer.ts";
import { textTable, timeText } from "./text-table.ts";

type Size = Received<"Quota">["globalQuota"];

const sizeText = ({ value, units }: Size): string => `${value} ${units}`;

function overrulesText({ since, by, quota }: NonNullable<Received<"Quota">["overrules"]>): string {
  const set = `It was set over HTTP at ${timeText(since)}${by === null ? "" : ` by ${by}`}`;
  const { enabled, globalQuota, globalExpirationPolicyName } = quota;
  return `${set}. The configuration file says ${enabled ? "" : "not enforced, "}${sizeText(globalQuota)}, ${globalExpirationPolicyName}, which is not in force: nuthatch quota reset puts it in force.\n`;
}

/** Formats the configuration of the disk quota. */
export function showQuota(quota: Received<"Quota">): string {
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
    ...(quota.overrules === undefined ? [] : [overrulesText(quota.overrules)]),
    ...(rows.length === 0 ? [] : [textTable(["layer", "quota", "policy"], rows)]),
  ].join("");
}
