import type { Operations } from "../coordinator/operations.ts";
import type { QuotaPreview } from "../coordinator/usage/quota-service.ts";
import type { Refusal } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import {
  applyQuotaChange,
  type QuotaChange,
  type QuotaConfiguration,
} from "../quota/configuration/quota-configuration.ts";
import { checkQuotaConfiguration } from "../quota/configuration/quota-validation.ts";
import { differences } from "./activity-detail.ts";

/** Returns the disk quota after a change that is not applied, and the evictions that the change would cause. */
export async function previewQuota(
  operations: Pick<Operations, "quota" | "previewQuota">,
  change: QuotaChange,
): Promise<Result<QuotaPreview, Refusal>> {
  const wrong = checkQuotaConfiguration(applyQuotaChange(await operations.quota(), change));
  return wrong === undefined ? ok(await operations.previewQuota(change)) : refuse(wrong);
}

/** A disk quota after a change, and the description of the change for the record of activity. */
interface ChangedQuota {
  readonly quota: QuotaConfiguration;
  readonly detail: string;
}

/** Applies a change of the disk quota by an account and returns the whole configuration. */
export async function changeQuota(
  operations: Pick<Operations, "quota" | "changeQuota">,
  change: QuotaChange,
  by: string | null,
): Promise<Result<ChangedQuota, Refusal>> {
  // The change may have a value without units. With the configured units it may be too large.
  const before = await operations.quota();
  const wrong = checkQuotaConfiguration(applyQuotaChange(before, change));
  if (wrong !== undefined) return refuse(wrong);
  const changed = await operations.changeQuota(change, by);
  return changed.ok ? ok({ quota: changed.value, detail: differences(before, changed.value) }) : changed;
}
