import { CommittedInput } from "../../components/committed-input.tsx";
import { Field } from "../../components/parts.tsx";
import { t } from "../../core/i18n.ts";
import { setQuery } from "../../core/router.ts";
import { type Draft, parseWindow, type RunWindow } from "./draft.ts";
import { TextField } from "./what.tsx";

const KEYS = [
  "priority",
  "rateLimit",
  "runWindow",
  "threadCount",
  "order",
  "tileFailureRetryCount",
  "tileFailureRetryWaitTime",
  "maxFailures",
  "maxFailurePercent",
];

/** How the job runs beside others. Everything has a default, so it is folded away. */
export function How({ draft }: { readonly draft: Draft }) {
  const { type, query } = draft;
  const isOpen = KEYS.some((key) => query.has(key));
  return (
    <details class="step" open={isOpen}>
      <summary>{t("newJob.how")}</summary>
      <div class="fields">
        <TextField name="priority" label={t("newJob.priority")} hint={t("newJob.priority.hint")} isNumber />
        {type !== "truncate" && (
          <>
            <TextField name="rateLimit" label={t("newJob.rateLimit")} hint={t("newJob.rateLimit.hint")} isNumber />
            <TextField name="threadCount" label={t("newJob.threads")} hint={t("newJob.threads.hint")} isNumber />
            <Field label={t("newJob.order")}>
              {({ id }) => (
                <select
                  id={id}
                  value={query.get("order") ?? "by-zoom"}
                  onChange={(event) =>
                    setQuery({ order: event.currentTarget.value === "by-zoom" ? undefined : event.currentTarget.value })
                  }
                >
                  <option value="by-zoom">{t("newJob.order.byZoom")}</option>
                  <option value="hot">{t("newJob.order.hot")}</option>
                </select>
              )}
            </Field>
            <TextField
              name="tileFailureRetryCount"
              label={t("newJob.retries")}
              hint={t("newJob.retries.hint")}
              isNumber
            />
            <TextField
              name="tileFailureRetryWaitTime"
              label={t("newJob.retryWait")}
              hint={t("newJob.retryWait.hint")}
              isNumber
            />
            <TextField
              name="maxFailures"
              label={t("newJob.maxFailures")}
              hint={t("newJob.maxFailures.hint")}
              isNumber
            />
            <TextField
              name="maxFailurePercent"
              label={t("newJob.maxFailurePercent")}
              hint={t("newJob.maxFailurePercent.hint")}
              isNumber
            />
          </>
        )}
      </div>
      <Window value={parseWindow(query.get("runWindow"))} />
    </details>
  );
}

/** The hours in which the job works. */
function Window({ value }: { readonly value: RunWindow | undefined }) {
  const now = value ?? { from: "", to: "", timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone };
  const take = (change: Partial<RunWindow>): void => {
    const next = { ...now, ...change };
    const isNone = next.from === "" && next.to === "";
    setQuery({ runWindow: isNone ? undefined : JSON.stringify(next) });
  };
  return (
    <div class="fields">
      <Field label={t("newJob.windowFrom")}>
        {({ id }) => (
          <input id={id} type="time" value={now.from} onInput={(event) => take({ from: event.currentTarget.value })} />
        )}
      </Field>
      <Field label={t("newJob.windowTo")}>
        {({ id }) => (
          <input id={id} type="time" value={now.to} onInput={(event) => take({ to: event.currentTarget.value })} />
        )}
      </Field>
      <Field label={t("newJob.timeZone")}>
        {({ id }) => <CommittedInput id={id} value={now.timeZone} onCommit={(timeZone) => take({ timeZone })} />}
      </Field>
    </div>
  );
}
