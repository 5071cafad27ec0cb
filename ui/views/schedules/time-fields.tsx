import { Field, Panel } from "../../components/parts.tsx";
import { t } from "../../core/i18n.ts";
import type { Draft } from "./draft.ts";
import { errorOf, type FieldErrors } from "./field-errors.ts";

export interface FieldsProps {
  readonly draft: Draft;
  readonly change: (changes: Partial<Draft>) => void;
  readonly errors: FieldErrors;
}

const ZONES = ["UTC", ...Intl.supportedValuesOf("timeZone")];
const EXAMPLES = ["30 2 * * *", "0 */6 * * *", "0 3 * * MON-FRI", "0 4 1 * *", "@hourly", "@daily", "@weekly"];

/** The name of a schedule, and when it runs. */
export function TimeFields({ draft, change, errors, isNew }: FieldsProps & { readonly isNew: boolean }) {
  return (
    <Panel title={t("schedules.when")}>
      <div class="fields">
        {isNew && (
          <Field label={t("schedules.name")} error={errorOf(errors, "name")}>
            {({ id, describedBy }) => (
              <input
                id={id}
                aria-describedby={describedBy}
                required
                maxLength={100}
                value={draft.name}
                onInput={({ currentTarget: { value } }) => change({ name: value })}
              />
            )}
          </Field>
        )}
        <Field label={t("schedules.cron")} hint={t("schedules.cronHint")} error={errorOf(errors, "cron")}>
          {({ id, describedBy }) => (
            <>
              <input
                id={id}
                class="code"
                aria-describedby={describedBy}
                list="cron-examples"
                value={draft.cron}
                onInput={({ currentTarget: { value } }) => change({ cron: value })}
              />
              <Values id="cron-examples" values={EXAMPLES} />
            </>
          )}
        </Field>
        <Field label={t("schedules.timeZone")} hint={t("schedules.zoneHint")} error={errorOf(errors, "timeZone")}>
          {({ id, describedBy }) => (
            <>
              <input
                id={id}
                aria-describedby={describedBy}
                list="time-zones"
                value={draft.timeZone}
                onInput={({ currentTarget: { value } }) => change({ timeZone: value })}
              />
              <Values id="time-zones" values={ZONES} />
            </>
          )}
        </Field>
      </div>
      <div class="fields">
        <Field
          label={t("schedules.windowFrom")}
          hint={t("schedules.windowHint")}
          error={errorOf(errors, "window.start", "window.from", "window")}
        >
          {({ id, describedBy }) => (
            <input
              id={id}
              type="time"
              aria-describedby={describedBy}
              value={draft.start}
              onInput={({ currentTarget: { value } }) => change({ start: value })}
            />
          )}
        </Field>
        <Field label={t("schedules.windowTo")} error={errorOf(errors, "window.end", "window.to")}>
          {({ id, describedBy }) => (
            <input
              id={id}
              type="time"
              aria-describedby={describedBy}
              value={draft.end}
              onInput={({ currentTarget: { value } }) => change({ end: value })}
            />
          )}
        </Field>
        <Field label={t("schedules.missed")} hint={t("schedules.missedHint")} error={errorOf(errors, "missed")}>
          {({ id, describedBy }) => (
            <select
              id={id}
              aria-describedby={describedBy}
              value={draft.missed}
              onChange={({ currentTarget: { value } }) => change({ missed: value === "skip" ? "skip" : "run_once" })}
            >
              <option value="run_once">{t("schedules.missed.run_once")}</option>
              <option value="skip">{t("schedules.missed.skip")}</option>
            </select>
          )}
        </Field>
      </div>
    </Panel>
  );
}

function Values({ id, values }: { readonly id: string; readonly values: readonly string[] }) {
  return (
    <datalist id={id}>
      {values.map((one) => (
        <option key={one} value={one} />
      ))}
    </datalist>
  );
}
