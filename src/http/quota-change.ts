import type { Operations } from "../coordinator/operations.ts";
import type { QuotaPreview } from "../coordinator/quota-service.ts";
import type { Refusal } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import { applyQuotaChange, type QuotaChange, type QuotaConfiguration } from "../quota/quota-configuration.ts";
import { checkQuotaConfiguration } from "../quota/quota-validation.ts";

/** Returns the disk quota as a change would leave it, and what the change would evict. */
export async function previewQuota(
  operations: Pick<Operations, "quota" | "previewQuota">,
  change: QuotaChange,
): Promise<Result<QuotaPreview, Refusal>> {
  const wrong = checkQuotaConfiguration(applyQuotaChange(await operations.quota(), change));
  return wrong === undefined ? ok(await operations.previewQuota(change)) : refuse(wrong);
}

/** Applies a change of the disk quota by an account and returns the whole configuration. */
export async function changeQuota(
  operations: Pick<Operations, "quota" | "changeQuota">,
  change: QuotaChange,
  by: string | null,
): Promise<Result<QuotaConfiguration, Refusal>> {
  // The change may have a value without units. Together with the units already configured it can be too large.
  const wrong = checkQuotaConfiguration(applyQuotaChange(await operations.quota(), change));
  return wrong === undefined ? operations.changeQuota(change, by) : refuse(wrong);
}
