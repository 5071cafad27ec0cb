import { Lazy } from "../../components/lazy.tsx";
import { Link } from "../../components/link.tsx";
import { Loading, MARKS, Page } from "../../components/parts.tsx";
import { toastProblem } from "../../components/toast.tsx";
import { hasEnded, type Job, processedOf, useJobChanges, useLiveJob } from "../../core/model/jobs.ts";
import { useShortcuts } from "../../core/page/keys.ts";
import { type Doc, send } from "../../core/server/api.ts";
import { liveJobs } from "../../core/server/events.ts";
import { type Loaded, useDocument } from "../../core/server/resource.ts";
import { may } from "../../core/server/session.ts";
import { dateTime } from "../../core/text/format.ts";
import { t, tMaybe } from "../../core/text/i18n.ts";
import { JobActions } from "./job-actions.tsx";
import { JobFacts } from "./job-facts.tsx";
import { JobFailures } from "./job-failures.tsx";
import { JobProgress } from "./job-progress.tsx";
import { JobTimeline, useTimeline } from "./job-timeline.tsx";
import { outcomeOf, waitsForUpstream } from "./outcome.ts";
import { standstillSince } from "./timeline.ts";

/** Loads the map, whose files the list of jobs and a job without a map do not need. */
const loadMap = async () => (await import("./job-map.tsx")).JobMap;
/**
 * Returns whether a job has a map. A job of several grid sets or formats, such as a truncate of a whole layer, has
 * none.
 */
const hasMap = ({ gridSet, format }: Job): boolean => gridSet !== null && format !== null;

/** Shows one job. Its counts follow events. The document is read again when its state changes. */
export function JobPage({ id }: { readonly id: string }) {
  const loaded = useDocument("Job", `jobs/${encodeURIComponent(id)}`);
  useJobChanges(loaded.reload, (job) => String(job.id) === id);
  const job = loaded.data;
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
  const timeline = useTimeline(job);
  const levels = useLevels(job);
  const since = standstillSince(job, timeline.data?.timeline ?? []);
  const { tone, text } = outcomeOf(job);
  return (
    <Page
      title={t("job.heading", { id: String(job.id), type: tMaybe(`type.${job.type}`), layer: job.layer })}
      actions={<JobActions job={job} reload={reload} />}
    >
      <p class={`outcome ${tone}`} role="status">
        <span aria-hidden="true">{MARKS[tone]}</span> {text}
      </p>
      {since !== undefined && (
        <p class="soft standstill">
          {t("outcome.since", { time: dateTime(since) })}{" "}
          {waitsForUpstream(job) && <Link to="/upstreams">{t("nav.upstreams")}</Link>}
        </p>
      )}
      <JobProgress job={job} levels={levels} />
      {hasMap(job) && <Lazy load={loadMap} props={{ job, working: workingLevel(job, levels.data) }} />}
      <JobFailures job={job} />
      <div class="panels">
        <JobFacts job={job} />
        <JobTimeline job={job} loaded={timeline} />
      </div>
    </Page>
  );
}

/**
 * Reads the progress of each level. Events contain only the sum: when it changes, the levels are read again. A truncate
 * has no progress of its levels.
 */
function useLevels({ id, type, tiles }: Job): Loaded<Doc<"JobLevels">> {
  const path = type === "truncate" ? undefined : `jobs/${id}/levels`;
  return useDocument("JobLevels", path, { version: `${processedOf(tiles)} ${tiles.failed}` });
}

/** Returns the level at which an unfinished job works: the first one that is not finished. */
const workingLevel = (job: Job, levels: Doc<"JobLevels"> | undefined): number | undefined =>
  hasEnded(job) ? undefined : levels?.levels.find(({ processed, total }) => BigInt(processed) < BigInt(total))?.z;

/** Pauses a running or waiting job, resumes a paused one. */
function togglePause(id: number): Promise<unknown> {
  const action = liveJobs.peek().get(id)?.paused === true ? "resume" : "pause";
  return send({ method: "POST", path: `jobs/${id}/${action}` }).catch(toastProblem);
}
