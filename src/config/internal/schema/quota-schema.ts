import * as z from "zod";
import { CLEAN_UP_UNITS, EXPIRATION_POLICIES, STORAGE_UNITS } from "../../../quota/quota-validation.ts";
import { either, extent, flag, list, map, number, oneOf, optional, text, whole } from "./fields.ts";

const units = oneOf(STORAGE_UNITS);
const value = either("a number from 0 on or a text", [z.number().min(0), z.string()]);

export const DiskQuotaSchema = map({
  enabled: optional(flag),
  cacheCleanUpFrequency: optional(whole(1)),
  cacheCleanUpUnits: optional(oneOf(CLEAN_UP_UNITS)),
  maxConcurrentCleanUps: optional(whole(1)),
  globalExpirationPolicyName: optional(oneOf(EXPIRATION_POLICIES)),
  globalQuota: optional(map({ value: optional(value), units: optional(units) })),
  layerQuotas: list(
    map({ layer: text, expirationPolicyName: oneOf(EXPIRATION_POLICIES), quota: map({ value, units }) }),
  ).default([]),
});

const level = optional(whole(0, 63));
const waterPercent = optional(number({ above: 0, most: 100 }));
export const EvictionSchema = map({
  highWaterPercent: waterPercent.describe("A clean-up begins above this share of a quota; 100."),
  lowWaterPercent: waterPercent.describe("A clean-up ends at or below this share of a quota; highWaterPercent."),
  minFreeMiB: optional(number({ least: 0 })).describe("Store nothing while the disk has less free space."),
  minFreeInodes: optional(whole(0)).describe("Store nothing while the disk has room for fewer files."),
  pins: list(map({ layer: text, gridSet: optional(text), extent: optional(extent), zoomStart: level, zoomStop: level }))
    .default([])
    .describe("Tiles that clean-ups do not delete."),
  floors: list(map({ layer: text, value, units }))
    .default([])
    .describe("Sizes below which clean-ups do not reduce a layer."),
});

export type DiskQuotaDocument = z.output<typeof DiskQuotaSchema>;
export type EvictionDocument = z.output<typeof EvictionSchema>;
