import { Choice } from "../../components/fields/choice.tsx";
import { CommittedField } from "../../components/fields/committed-field.tsx";
import { TextField } from "../../components/fields/text-field.tsx";
import { JOB_OPTIONS } from "../../core/model/job-options.ts";
import { setQuery } from "../../core/page/router.ts";
import { t } from "../../core/text/i18n.ts";
import { type Draft, parseWindow, type RunWindow } from "./draft.ts";
import { QueryField } from "./what.tsx";

/** The options of a reseed are shown beside its type. */
const TERMS = JOB_OPTIONS.filter(({ name }) => name !== "onlyExisting" && name !== "olderThan");
const ORDERS = ["by-zoom", "hot"] as const;

/** The terms of the job: how it runs beside other jobs. All have defaults, so the section is closed at first. */
export function How({ draft }: { readonly draft: Draft }) {
  const { type, query } = draft;
  const isOpen = TERMS.some(({ name }) => query.has(name));
  return (
    <details class="step" open={isOpen}>
      <summary>{t("newJob.how")}</summary>
      <div class="fields">
        {TERMS.filter(({ types }) => types.includes(type)).map(({ name, text }) =>
          name === "order" ? (
            <Choice
              key={name}
              label={t("field.order")}
              value={query.get("order") ?? "by-zoom"}
              values={ORDERS}
              textOf={(order) => t(order === "hot" ? "newJob.order.hot" : "newJob.order.byZoom")}
              onChoose={(order) => setQuery({ order: order === "by-zoom" ? undefined : order })}
            />
          ) : (
            text !== undefined && <QueryField key={name} name={name} text={text} isNumber />
          ),
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
