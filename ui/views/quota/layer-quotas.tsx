import { Button } from "../../components/button.tsx";
import { Choice, Select } from "../../components/fields/choice.tsx";
import type { Doc } from "../../core/server/api.ts";
import { t } from "../../core/text/i18n.ts";

type LayerQuota = Doc<"Quota">["layerQuotas"][number];

export const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"] as const;
export const POLICIES = ["LRU", "LFU"] as const;

interface LayerQuotasProps {
  readonly quotas: readonly LayerQuota[];
  /** The layers that can get their own quota. */
  readonly layers: readonly string[];
  readonly change: (quotas: readonly LayerQuota[]) => void;
}

/** The quotas of single layers: a row for each, and a row to add one. */
export function LayerQuotas({ quotas, layers, change }: LayerQuotasProps) {
  const free = layers.filter((name) => quotas.every(({ layer }) => layer !== name));
  const set = (index: number, part: Partial<LayerQuota>): void =>
    change(quotas.map((one, n) => (n === index ? { ...one, ...part } : one)));
  const add = (layer: string): void =>
    change([...quotas, { layer, expirationPolicyName: "LRU", quota: { value: "1", units: "GiB" } }]);
  return (
    <fieldset class="layer-quotas">
      <legend>{t("quota.own")}</legend>
      {quotas.map(({ layer, expirationPolicyName, quota }, n) => (
        <div key={layer} class="layer-quota">
          <span class="name">{layer}</span>
          <input
            aria-label={t("quota.sizeOf", { layer })}
            inputmode="decimal"
            value={quota.value}
            onInput={(event) => set(n, { quota: { ...quota, value: event.currentTarget.value } })}
          />
          <Select
            label={t("quota.unitsOf", { layer })}
            value={quota.units}
            values={UNITS}
            onChoose={(units) => set(n, { quota: { ...quota, units } })}
          />
          <Select
            label={t("quota.policyOf", { layer })}
            value={expirationPolicyName}
            values={POLICIES}
            onChoose={(policy) => set(n, { expirationPolicyName: policy })}
          />
          <Button
            label="✕"
            class="quiet small"
            name={t("quota.removeOf", { layer })}
            onPress={() => change(quotas.filter((_, other) => other !== n))}
          />
        </div>
      ))}
      {free.length > 0 && (
        <Choice
          label={t("quota.add")}
          value=""
          values={["", ...free]}
          textOf={(layer) => layer || "—"}
          onChoose={add}
        />
      )}
    </fieldset>
  );
}
