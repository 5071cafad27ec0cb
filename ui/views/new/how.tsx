import { Choice } from "../../components/choice.tsx";
import { CommittedField } from "../../components/committed-field.tsx";
import { TextField } from "../../components/text-field.tsx";
import { t } from "../../core/i18n.ts";
import { setQuery } from "../../core/router.ts";
import { type Draft, parseWindow, type RunWindow } from "./draft.ts";
import { QueryField } from "./what.tsx";

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
const ORDERS = ["by-zoom", "hot"] as const;

/** The terms of the job: how it runs beside other jobs. All have defaults, so the section is closed at first. */
export function How({ draft }: { readonly draft: Draft }) {
  const { type, query } = draft;
  const isOpen = KEYS.some((key) => query.has(key));
  return (
    <details class="step" open={isOpen}>
      <summary>{t("newJob.how")}</summary>
      <div class="fields">
        <QueryField name="priority" text="priority" isNumber />
        {type !== "truncate" && (
          <>
            <QueryField name="rateLimit" text="rateLimit" isNumber />
            <QueryField name="threadCount" text="threads" isNumber />
            <Choice
              label={t("field.order")}
              value={query.get("order") ?? "by-zoom"}
              values={ORDERS}
              textOf={(order) => t(order === "hot" ? "newJob.order.hot" : "newJob.order.byZoom")}
              onChoose={(order) => setQuery({ order: order === "by-zoom" ? undefined : order })}
            />
            <QueryField name="tileFailureRetryCount" text="retries" isNumber />
            <QueryField name="tileFailureRetryWaitTime" text="retryWait" isNumber />
            <QueryField name="maxFailures" text="maxFailures" isNumber />
            <QueryField name="maxFailurePercent" text="maxFailurePercent" isNumber />
          </>
        )}
      </div>
      <Window value={parseWindow(query.get("runWindow"))} />
    </details>
  );
}

/** The hours in which the job may work. */
function Window({ value }: { readonly value: RunWindow | undefined }) {
  const now = value ?? { from: "", to: "", timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone };
  const take = (change: Partial<RunWindow>): void => {
    const next = { ...now, ...change };
    const isNone = next.from === "" && next.to === "";
    setQuery({ runWindow: isNone ? undefined : JSON.stringify(next) });
  };
  return (
    <div class="fields">
      <TextField label={t("newJob.windowFrom")} type="time" value={now.from} onInput={(from) => take({ from })} />
      <TextField label={t("newJob.windowTo")} type="time" value={now.to} onInput={(to) => take({ to })} />
      <CommittedField label={t("field.timeZone")} value={now.timeZone} onCommit={(timeZone) => take({ timeZone })} />
    </div>
  );
}
