import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Loading, MARKS, Page } from "../../components/parts.tsx";
import { toast } from "../../components/toast.tsx";
import { asProblem, send } from "../../core/api.ts";
import { liveJobs } from "../../core/events.ts";
import { t, tMaybe } from "../../core/i18n.ts";
import { hasEnded, type Job, kindOf, useJobChanges, useLiveJob } from "../../core/jobs.ts";
import { useShortcuts } from "../../core/keys.ts";
import { useDocument } from "../../core/resource.ts";
import { may } from "../../core/session.ts";
import { JobActions } from "./job-actions.tsx";
import { JobFacts } from "./job-facts.tsx";
import { JobFailures } from "./job-failures.tsx";
import { JobMap } from "./job-map.tsx";
import { JobProgress } from "./job-progress.tsx";
import { JobTimeline } from "./job-timeline.tsx";
import { outcomeOf } from "./outcome.ts";

/** The interval in which the counts by level are read. */
const LEVELS_MS = 2_000;

/** One job. Its counts follow the events; the document is read again when its state changes. */
export function JobPage({ id }: { readonly id: string }) {
  const isMoving = useSignal(false);
  // The events of a job have no counts by level.
  const loaded = useDocument("Job", `jobs/${encodeURIComponent(id)}`, isMoving.value ? { everyMs: LEVELS_MS } : {});
  useJobChanges(loaded.reload, (job) => String(job.id) === id);
  const job = loaded.data;
  useEffect(() => {
    // The document of a job with an area may be large.
    isMoving.value = job !== undefined && kindOf(job) === "running" && job.limit !== "area";
  }, [job]);
  if (job === undefined)
    return (
      <Page title={t("job.title", { id })}>
        <Loading of={loaded}>{() => null}</Loading>
      </Page>
    );
  return <ShownJob job={job} reload={loaded.reload} />;
}

function ShownJob({ job: read, reload }: { readonly job: Job; readonly reload: () => void }) {
  const job = useLiveJob(read);
  useShortcuts(
    !hasEnded(job) && may("operate") ? [{ keys: "p", label: "job.toggle", run: () => void togglePause(job.id) }] : [],
  );
  const { tone, text } = outcomeOf(job);
  return (
    <Page
      title={t("job.heading", { id: String(job.id), type: tMaybe(`type.${job.type}`), layer: job.layer })}
      actions={<JobActions job={job} reload={reload} />}
    >
      <p class={`outcome ${tone}`} role="status">
        <span aria-hidden="true">{MARKS[tone]}</span> {text}
      </p>
      <JobProgress job={job} />
      <JobMap job={job} />
      <JobFailures job={job} />
      <div class="panels">
        <JobFacts job={job} />
        <JobTimeline job={job} />
      </div>
    </Page>
  );
}

/** Pauses a job that runs or waits, resumes a paused one. */
async function togglePause(id: number): Promise<void> {
  const action = liveJobs.peek().get(id)?.paused === true ? "resume" : "pause";
  await send({ method: "POST", path: `jobs/${id}/${action}` }).catch((error: unknown) =>
    toast(asProblem(error).message, { kind: "problem" }),
  );
}
