import { Action } from "../../components/dialogs/action.tsx";
import { toast, toastProblem } from "../../components/toast.tsx";
import { navigate, pathOf } from "../../core/page/router.ts";
import { type Doc, send } from "../../core/server/api.ts";
import { nuthatchCommand } from "../../core/server/command.ts";
import { t } from "../../core/text/i18n.ts";
import { JobEstimate } from "./job-estimate.tsx";

export type Schedule = Doc<"Schedule">;

interface ScheduleProps {
  readonly schedule: Schedule;
}

/** Pauses a schedule, or resumes it. The list and the page follow the event. */
export function PauseAction({ schedule: { name, paused } }: ScheduleProps) {
  const action = paused ? "resume" : "pause";
  return (
    <Action
      label={t(`schedules.${action}`)}
      title={t("schedules.actionOf", { action: t(`schedules.${action}`), name })}
      request={{ method: "POST", path: `${schedulePath(name)}/${action}` }}
      command={nuthatchCommand("schedule", action, name)}
      done={() => ({ text: t(`schedules.${action}.done`, { name }) })}
    />
  );
}

/** Makes the jobs of a schedule now, after a dialog with their number of tiles. */
export function RunAction({ schedule: { name, job }, onDone }: ScheduleProps & { readonly onDone?: () => void }) {
  return (
    <Action<Doc<"Job"> | Doc<"Jobs">>
      label={t("schedules.runNow")}
      title={t("schedules.actionOf", { action: t("schedules.runNow"), name })}
      request={{ method: "POST", path: `${schedulePath(name)}/run` }}
      command={nuthatchCommand("schedule", "run", name)}
      confirm={{
        title: t("schedules.runNowTitle", { name }),
        body: job.limit === undefined ? <JobEstimate job={job} /> : <p>{t(`schedules.limited.${job.limit}`)}</p>,
      }}
      done={(made) => {
        const id = "jobs" in made ? made.jobs[0]?.id : made.id;
        const action = { label: t("schedules.showJob"), run: () => navigate(`/jobs/${id}`) };
        return { text: t("schedules.runNow.done", { name }), ...(id === undefined ? {} : { action }) };
      }}
      {...(onDone === undefined ? {} : { onDone })}
    />
  );
}

/** Removes a schedule. The message can restore the schedule, without the records of its runs. */
export function RemoveAction({ schedule }: ScheduleProps) {
  const { name } = schedule;
  return (
    <Action
      label={t("edit.remove")}
      kind="danger"
      request={{ method: "DELETE", path: schedulePath(name) }}
      command={nuthatchCommand("schedule", "remove", name)}
      confirm={{ title: t("schedules.removeTitle", { name }), body: <p>{t("schedules.removeNote")}</p> }}
      done={() => ({
        text: t("schedules.removed", { name }),
        action: { label: t("undo"), run: () => void makeAgain(schedule).catch(toastProblem) },
      })}
      onDone={() => navigate("/schedules")}
    />
  );
}

async function makeAgain({ name, cron, timeZone, missed, window, job, paused }: Schedule): Promise<void> {
  const body = { name, cron, timeZone, missed, window, job };
  await send({ method: "POST", path: "schedules", body });
  if (paused) await send({ method: "POST", path: `${schedulePath(name)}/pause` });
  toast(t("schedules.madeAgain", { name }));
}

/**
 * Returns the path of the page of a schedule. A schedule named "new" has a longer path, because `/schedules/new` is the
 * form.
 */
export const scheduleAddress = (name: string): string =>
  name === "new" ? pathOf("schedules", name, "runs") : pathOf("schedules", name);

/** Returns the path of a schedule in `/api/v1`. */
export const schedulePath = (name: string): string => `schedules/${encodeURIComponent(name)}`;
