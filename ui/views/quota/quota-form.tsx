import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Action } from "../../components/action.tsx";
import { Field, Panel } from "../../components/parts.tsx";
import { type ApiRequest, asProblem, type Doc, send } from "../../core/api.ts";
import { nuthatchCommand } from "../../core/command.ts";
import { bytes, count } from "../../core/format.ts";
import { t } from "../../core/i18n.ts";
import { countedOf } from "../../core/stored.ts";
import { LayerQuotas } from "./layer-quotas.tsx";
import { PolicySelect, UnitsSelect } from "./quota-selects.tsx";

type Quota = Doc<"Quota">;
type Preview = Doc<"QuotaPreview">;

const QUIET_MS = 300;

/**
 * A form that changes the quota. The form shows the eviction that the server computes for each change, before the
 * reader applies it.
 */
export function QuotaForm({ quota, usage }: { readonly quota: Quota; readonly usage: Doc<"Usage"> }) {
  const draft = useSignal(quota);
  const preview = useSignal<Preview | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const base = useRef(quota);
  useEffect(() => {
    // Unsaved changes of the reader stay when another client changes the quota.
    if (JSON.stringify(bodyOf(draft.value)) === JSON.stringify(bodyOf(base.current))) draft.value = quota;
    base.current = quota;
  }, [quota]);
  const { enabled, globalQuota, globalExpirationPolicyName, layerQuotas } = draft.value;
  const change = (part: Partial<Quota>): void => {
    draft.value = { ...draft.value, ...part };
  };
  const body = { enabled, globalQuota, globalExpirationPolicyName, layerQuotas };
  const text = JSON.stringify(body);
  const isChanged = text !== JSON.stringify(bodyOf(quota));

  useEffect(() => {
    preview.value = undefined;
    problem.value = undefined;
    if (!isChanged) return undefined;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      send<Preview>({ method: "PATCH", path: "quota?dryRun=true", body }, abort.signal).then(
        (answer) => {
          preview.value = answer;
        },
        (error: unknown) => {
          if (!abort.signal.aborted) problem.value = asProblem(error).message;
        },
      );
    }, QUIET_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text, isChanged]);

  const request: ApiRequest = { method: "PATCH", path: "quota", body };
  const evicts = preview.value !== undefined && Number(preview.value.wouldEvict.tiles) > 0 ? preview.value : undefined;
  return (
    <Panel title={t("quota.edit")}>
      <label class="choice">
        <input
          type="checkbox"
          checked={enabled}
          onChange={(event) => change({ enabled: event.currentTarget.checked })}
        />
        {t("quota.enabled")}
      </label>
      <div class="fields">
        <Field label={t("quota.size")} error={problem.value}>
          {({ id, describedBy }) => (
            <input
              id={id}
              aria-describedby={describedBy}
              inputmode="decimal"
              value={globalQuota.value}
              onInput={(event) => change({ globalQuota: { ...globalQuota, value: event.currentTarget.value } })}
            />
          )}
        </Field>
        <Field label={t("quota.units")}>
          {({ id }) => (
            <UnitsSelect
              id={id}
              value={globalQuota.units}
              change={(units) => change({ globalQuota: { ...globalQuota, units } })}
            />
          )}
        </Field>
        <Field label={t("quota.policy")}>
          {({ id }) => (
            <PolicySelect
              id={id}
              value={globalExpirationPolicyName}
              change={(policy) => change({ globalExpirationPolicyName: policy })}
            />
          )}
        </Field>
      </div>
      <LayerQuotas
        quotas={layerQuotas}
        layers={usage.layers.map(({ layer }) => layer)}
        change={(changed) => change({ layerQuotas: changed })}
      />
      <p role="status">
        {preview.value === undefined ? "" : evicts === undefined ? t("quota.evictsNothing") : wouldEvict(evicts, usage)}
      </p>
      <div class="buttons">
        <Action
          label={t("quota.apply")}
          kind="primary"
          need="administer"
          request={request}
          command={nuthatchCommand("quota", "set", `${globalQuota.value}${globalQuota.units}`)}
          disabled={!isChanged || preview.value === undefined}
          {...(evicts === undefined
            ? {}
            : { confirm: { title: t("quota.apply"), body: <p>{wouldEvict(evicts, usage)}</p> } })}
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
