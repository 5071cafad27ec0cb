import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Action } from "../../components/dialogs/action.tsx";
import { Checkbox } from "../../components/fields/checkbox.tsx";
import { Choice } from "../../components/fields/choice.tsx";
import { TextField } from "../../components/fields/text-field.tsx";
import { Panel } from "../../components/parts.tsx";
import { countedOf } from "../../core/model/stored.ts";
import type { Doc } from "../../core/server/api.ts";
import { nuthatchCommand } from "../../core/server/command.ts";
import { usePosted } from "../../core/server/posted.ts";
import { bytes, count } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";
import { LayerQuotas, POLICIES, UNITS } from "./layer-quotas.tsx";

type Quota = Doc<"Quota">;
type Preview = Doc<"QuotaPreview">;

const NO_ANSWER = { data: undefined, problem: undefined };

/**
 * A form to change the quota. Shows the eviction that the server computes for each change, before the user applies it.
 */
export function QuotaForm({ quota, usage }: { readonly quota: Quota; readonly usage: Doc<"Usage"> }) {
  const draft = useSignal(quota);
  const base = useRef(quota);
  useEffect(() => {
    // The user's unsaved changes are kept if another client changes the quota.
    if (JSON.stringify(bodyOf(draft.value)) === JSON.stringify(bodyOf(base.current))) draft.value = quota;
    base.current = quota;
  }, [quota]);
  const { enabled, globalQuota, globalExpirationPolicyName, layerQuotas } = draft.value;
  const change = (part: Partial<Quota>): void => {
    draft.value = { ...draft.value, ...part };
  };
  const body = bodyOf(draft.value);
  const text = JSON.stringify(body);
  const isChanged = text !== JSON.stringify(bodyOf(quota));
  const answer = usePosted("QuotaPreview", "quota?dryRun=true", isChanged ? text : undefined, "PATCH");
  const { data: preview, problem } = answer.isOld ? NO_ANSWER : answer;
  const evicts = preview !== undefined && Number(preview.wouldEvict.tiles) > 0 ? preview : undefined;
  return (
    <Panel title={t("quota.edit")}>
      <Checkbox label={t("quota.enabled")} isChecked={enabled} onChange={(isOn) => change({ enabled: isOn })} />
      <div class="fields">
        <TextField
          label={t("field.size")}
          error={problem?.message}
          inputMode="decimal"
          value={globalQuota.value}
          onInput={(value) => change({ globalQuota: { ...globalQuota, value } })}
        />
        <Choice
          label={t("quota.units")}
          value={globalQuota.units}
          values={UNITS}
          onChoose={(units) => change({ globalQuota: { ...globalQuota, units } })}
        />
        <Choice
          label={t("quota.policy")}
          value={globalExpirationPolicyName}
          values={POLICIES}
          textOf={(policy) => t(`quota.policy.${policy}`)}
          onChoose={(policy) => change({ globalExpirationPolicyName: policy })}
        />
      </div>
      <LayerQuotas
        quotas={layerQuotas}
        layers={usage.layers.map(({ layer }) => layer)}
        change={(changed) => change({ layerQuotas: changed })}
      />
      <p role="status">
        {preview === undefined ? "" : evicts === undefined ? t("quota.evictsNothing") : wouldEvict(evicts, usage)}
      </p>
      <div class="buttons">
        <Action
          label={t("terms.apply")}
          kind="primary"
          need="administer"
          request={{ method: "PATCH", path: "quota", body }}
          command={nuthatchCommand("quota", "set", `${globalQuota.value}${globalQuota.units}`)}
          disabled={!isChanged || preview === undefined}
          {...(evicts === undefined
            ? {}
            : { confirm: { title: t("terms.apply"), body: <p>{wouldEvict(evicts, usage)}</p> } })}
          done={() => ({ text: t("quota.applied") })}
        />
      </div>
    </Panel>
  );
}

const bodyOf = ({ enabled, globalQuota, globalExpirationPolicyName, layerQuotas }: Quota): Partial<Quota> => ({
  enabled,
  globalQuota,
  globalExpirationPolicyName,
  layerQuotas,
});

const wouldEvict = ({ wouldEvict: sum }: Preview, { quotaCount }: Pick<Doc<"Usage">, "quotaCount">): string =>
  t("quota.wouldEvict", { tiles: count(sum.tiles), size: bytes(countedOf(quotaCount, sum)) });
