import { useState } from "preact/hooks";
import { Action } from "../../components/dialogs/action.tsx";
import { Loading, Page, Panel, ProblemBox } from "../../components/parts.tsx";
import { navigate, place } from "../../core/page/router.ts";
import type { Problem } from "../../core/server/api.ts";
import type { Count } from "../../core/server/json.ts";
import { useDocument } from "../../core/server/resource.ts";
import { may } from "../../core/server/session.ts";
import { count } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";
import { bodyOf, commandOf, type Draft, draftOf, jobFieldsOf, jobOf, newDraft, windowOf } from "./draft.ts";
import { errorsOf } from "./fields.ts";
import { EstimateText, useJobEstimate } from "./job-estimate.tsx";
import { JobFields } from "./job-fields.tsx";
import type { Schedule } from "./schedule-actions.tsx";
import { scheduleAddress, schedulePath } from "./schedule-actions.tsx";
import { NextRuns } from "./schedule-page.tsx";
import { TimeFields } from "./time-fields.tsx";
import { usePreview } from "./use-preview.ts";
import { WeekGrid } from "./week-grid.tsx";

/** The form of a new schedule, filled from the query of the address. */
export function NewSchedule() {
  const [first] = useState(() => newDraft(jobOf(place.value.query), Intl.DateTimeFormat().resolvedOptions().timeZone));
  return (
    <Page title={t("schedules.new")}>
      <Form first={first} isNew />
    </Page>
  );
}

/** The form of an existing schedule. */
export function EditSchedule({ name }: { readonly name: string }) {
  const loaded = useDocument("Schedule", schedulePath(name));
  return (
    <Page title={t("schedules.editTitle", { name })}>
      <Loading of={loaded}>{(schedule) => <Form first={draftOf(schedule)} isNew={false} />}</Loading>
    </Page>
  );
}

function Form({ first, isNew }: { readonly first: Draft; readonly isNew: boolean }) {
  const [draft, setDraft] = useState(first);
  const [refused, setRefused] = useState<Refused>();
  const job = jobFieldsOf(draft);
  const preview = usePreview({ cron: draft.cron, timeZone: draft.timeZone, window: windowOf(draft) });
  const estimate = useJobEstimate(draft.layer.trim() === "" ? undefined : job);
  // A refusal is shown until its field is changed.
  const errors = {
    ...errorsOf(estimate.problem, "job."),
    ...errorsOf(preview.problem),
    ...(refused?.draft === draft ? errorsOf(refused.problem) : {}),
    ...(job === undefined ? { "job.more": t("schedules.moreWrong") } : {}),
  };
  const change = (changes: Partial<Draft>): void => setDraft({ ...draft, ...changes });
  return (
    <form class="schedule-form" onSubmit={(event) => event.preventDefault()}>
      {!may("operate") && <p class="notice warn">{t("schedules.mayNot")}</p>}
      <div class="stack">
        <TimeFields draft={draft} change={change} errors={errors} isNew={isNew} />
        <JobFields draft={draft} change={change} errors={errors} />
      </div>
      <div class="stack">
        <Panel title={t("schedules.preview")} class="schedule-preview">
          <WeekGrid
            runs={preview.data?.runs ?? []}
            windows={preview.data?.windows ?? []}
            timeZone={preview.data === undefined ? "UTC" : draft.timeZone}
          />
          <h3>{t("schedules.nextRuns")}</h3>
          {preview.data !== undefined && <NextRuns runs={preview.data.runs} timeZone={draft.timeZone} />}
        </Panel>
        <Panel title={t("schedules.eachRun")} class="schedule-save">
          {draft.layer.trim() === "" ? (
            <p class="soft">{t("schedules.chooseLayer")}</p>
          ) : (
            <EstimateText of={estimate.data} problem={estimate.problem} type={draft.type} />
          )}
          {refused?.draft === draft && <ProblemBox problem={refused.problem} />}
          <Save
            draft={draft}
            job={job}
            isNew={isNew}
            onRefused={(problem) => setRefused({ draft, problem })}
            tiles={refused?.draft === draft ? tilesOf(refused.problem) : undefined}
          />
        </Panel>
      </div>
    </form>
  );
}

interface Refused {
  readonly draft: Draft;
  readonly problem: Problem;
}

/** Returns the number of tiles that the server requires to be confirmed. Undefined for any other problem. */
function tilesOf({ code, document: { tiles } }: Problem): Count | undefined {
  if (code !== "confirmation_needed") return undefined;
  return typeof tiles === "bigint" ? tiles : Number(tiles);
}

interface SaveProps {
  readonly draft: Draft;
  readonly job: Readonly<Record<string, unknown>> | undefined;
  readonly isNew: boolean;
  readonly onRefused: (problem: Problem) => void;
  /** The number of tiles that must be confirmed. */
  readonly tiles: Count | undefined;
}

function Save({ draft, job, isNew, onRefused, tiles }: SaveProps) {
  const name = draft.name.trim();
  const body = bodyOf(draft, { ...job, ...(tiles === undefined ? {} : { confirm: true }) });
  const command = commandOf(draft, isNew);
  return (
    <div class="buttons">
      <Action<Schedule>
        label={tiles === undefined ? t("schedules.save") : t("schedules.saveConfirmed", { tiles: count(tiles) })}
        kind="primary"
        request={
          isNew ? { method: "POST", path: "schedules", body } : { method: "PUT", path: schedulePath(name), body }
        }
        {...(command === undefined ? {} : { command: tiles === undefined ? command : `${command} --yes` })}
        disabled={job === undefined || name === "" || draft.layer.trim() === ""}
        done={() => ({ text: t("schedules.saved", { name }) })}
        onDone={(saved) => navigate(scheduleAddress(saved.name))}
        onProblem={onRefused}
      />
    </div>
  );
}
