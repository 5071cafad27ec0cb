import { Choice } from "../../components/fields/choice.tsx";
import { TextField } from "../../components/fields/text-field.tsx";
import { Panel } from "../../components/parts.tsx";
import { t } from "../../core/text/i18n.ts";
import { choiceIn, type FieldsProps, textIn } from "./fields.ts";

const ZONES = ["UTC", ...Intl.supportedValuesOf("timeZone")];
const EXAMPLES = ["30 2 * * *", "0 */6 * * *", "0 3 * * MON-FRI", "0 4 1 * *", "@hourly", "@daily", "@weekly"];
const MISSED = ["run_once", "skip"] as const;

/** The name of a schedule, and when it runs. */
export function TimeFields({ isNew, ...fields }: FieldsProps & { readonly isNew: boolean }) {
  return (
    <Panel title={t("schedules.when")}>
      <div class="fields">
        {isNew && <TextField label={t("field.name")} required maxLength={100} {...textIn(fields, "name", "name")} />}
        <TextField
          label={t("schedules.cron")}
          hint={t("schedules.cronHint")}
          class="code"
          offered={EXAMPLES}
          {...textIn(fields, "cron", "cron")}
        />
        <TextField
          label={t("field.timeZone")}
          hint={t("schedules.zoneHint")}
          offered={ZONES}
          {...textIn(fields, "timeZone", "timeZone")}
        />
      </div>
      <div class="fields">
        <TextField
          label={t("schedules.windowFrom")}
          hint={t("schedules.windowHint")}
          type="time"
          {...textIn(fields, "start", "window.start", "window.from", "window")}
        />
        <TextField label={t("schedules.windowTo")} type="time" {...textIn(fields, "end", "window.end", "window.to")} />
        <Choice
          label={t("schedules.missed")}
          hint={t("schedules.missedHint")}
          values={MISSED}
          textOf={(missed) => t(`schedules.missed.${missed}`)}
          {...choiceIn(fields, "missed", "missed")}
        />
      </div>
    </Panel>
  );
}
