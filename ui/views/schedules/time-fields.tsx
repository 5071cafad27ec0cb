import { Choice } from "../../components/choice.tsx";
import { Panel } from "../../components/parts.tsx";
import { TextField } from "../../components/text-field.tsx";
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
const MISSED = ["run_once", "skip"] as const;

/** The name of a schedule, and when it runs. */
export function TimeFields({ draft, change, errors, isNew }: FieldsProps & { readonly isNew: boolean }) {
  return (
    <Panel title={t("schedules.when")}>
      <div class="fields">
        {isNew && (
          <TextField
            label={t("field.name")}
            error={errorOf(errors, "name")}
            required
            maxLength={100}
            value={draft.name}
            onInput={(name) => change({ name })}
          />
        )}
        <TextField
          label={t("schedules.cron")}
          hint={t("schedules.cronHint")}
          error={errorOf(errors, "cron")}
          class="code"
          offered={EXAMPLES}
          value={draft.cron}
          onInput={(cron) => change({ cron })}
        />
        <TextField
          label={t("field.timeZone")}
          hint={t("schedules.zoneHint")}
          error={errorOf(errors, "timeZone")}
          offered={ZONES}
          value={draft.timeZone}
          onInput={(timeZone) => change({ timeZone })}
        />
      </div>
      <div class="fields">
        <TextField
          label={t("schedules.windowFrom")}
          hint={t("schedules.windowHint")}
          error={errorOf(errors, "window.start", "window.from", "window")}
          type="time"
          value={draft.start}
          onInput={(start) => change({ start })}
        />
        <TextField
          label={t("schedules.windowTo")}
          error={errorOf(errors, "window.end", "window.to")}
          type="time"
          value={draft.end}
          onInput={(end) => change({ end })}
        />
        <Choice
          label={t("schedules.missed")}
          hint={t("schedules.missedHint")}
          error={errorOf(errors, "missed")}
          value={draft.missed}
          values={MISSED}
          textOf={(missed) => t(`schedules.missed.${missed}`)}
          onChoose={(missed) => change({ missed })}
        />
      </div>
    </Panel>
  );
}
