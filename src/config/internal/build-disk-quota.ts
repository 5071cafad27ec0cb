import {
  applyQuotaChange,
  DEFAULT_QUOTA,
  type Quota,
  type QuotaConfiguration,
} from "../../quota/quota-configuration.ts";
import { checkQuotaSize, parseQuotaValue } from "../../quota/quota-validation.ts";
import { didYouMean } from "./nearest.ts";
import type { Path, Problems } from "./problems.ts";
import type { DiskQuotaDocument } from "./schema/quota-schema.ts";

/** Returns the default quota, overridden by the fields of the document. */
export function buildDiskQuota(
  document: DiskQuotaDocument,
  layers: readonly string[],
  at: Path,
  problems: Problems,
): QuotaConfiguration {
  const { globalQuota, layerQuotas, ...plain } = document;
  const decimalOf = (value: string | number, path: Path): string => {
    const parsed = parseQuotaValue(String(value));
    if (parsed === undefined) problems.expected(path, "a decimal number from 0 on", value);
    return parsed ?? "0";
  };
  const check = (quota: Quota, path: Path): void => {
    const refused = checkQuotaSize("value", quota);
    if (refused !== undefined) problems.add(path, refused.message);
  };
  const seen = new Set<string>();
  const built = applyQuotaChange(DEFAULT_QUOTA, {
    ...plain,
    layerQuotas: layerQuotas.map(({ layer, expirationPolicyName, quota: { value, units } }, i) => {
      const path = [...at, "layerQuotas", i];
      if (!layers.includes(layer))
        problems.add([...path, "layer"], `unknown layer ${JSON.stringify(layer)}${didYouMean(layer, layers)}`);
      else if (seen.has(layer)) problems.add([...path, "layer"], `${JSON.stringify(layer)} has two quotas`);
      seen.add(layer);
      const quota = { value: decimalOf(value, [...path, "quota", "value"]), units };
      check(quota, [...path, "quota"]);
      return { layer, expirationPolicyName, quota };
    }),
    globalQuota: {
      ...(globalQuota?.value === undefined
        ? {}
        : { value: decimalOf(globalQuota.value, [...at, "globalQuota", "value"]) }),
      ...(globalQuota?.units === undefined ? {} : { units: globalQuota.units }),
    },
  });
  check(built.globalQuota, [...at, "globalQuota"]);
  return built;
}
