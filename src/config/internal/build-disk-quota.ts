import { applyQuotaChange, DEFAULT_QUOTA, type QuotaConfiguration } from "../../quota/quota-configuration.ts";
import { unknownLayer } from "./nearest.ts";
import type { Path, Problems } from "./problems.ts";
import type { DiskQuotaDocument } from "./schema/quota-schema.ts";

/** Returns the default quota, overridden by the fields of the document. */
export function buildDiskQuota(
  document: DiskQuotaDocument,
  layers: readonly string[],
  at: Path,
  problems: Problems,
): QuotaConfiguration {
  for (const [i, { layer }] of document.layerQuotas.entries())
    if (!layers.includes(layer)) problems.add([...at, "layerQuotas", i, "layer"], unknownLayer(layer, layers));
  return applyQuotaChange(DEFAULT_QUOTA, document);
}
