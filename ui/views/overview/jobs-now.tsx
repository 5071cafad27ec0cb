import { useComputed } from "@preact/signals";
import { JobChip, JobLink, JobMeter } from "../../components/job-parts.tsx";
import { Link } from "../../components/link.tsx";
import { Panel } from "../../components/parts.tsx";
import { hasEnded, type Job, useLiveJob } from "../../core/model/jobs.ts";
import { liveJobs } from "../../core/server/events.ts";
import { may } from "../../core/server/session.ts";
import { decimal, duration } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";

const SHOWN = 6;

/** The unfinished jobs, running ones first. */
export function JobsNow() {
  const ids = useComputed(() =>
    [...liveJobs.value.values()]
      .filter((job) => !hasEnded(job))
      .sort((a, b) => Number(isRunning(b)) - Number(isRunning(a)) || b.id - a.id)
      .map(({ id }) => id)
      .join(),
  ).value;
  const all = ids === "" ? [] : ids.split(",").map(Number);
  const jobs = all.slice(0, SHOWN).flatMap((id) => liveJobs.peek().get(id) ?? []);
  return (
    <Panel title={t("overview.jobs")} actions={<Link to="/jobs">{t("overview.allJobs")}</Link>} class="jobs-now">
      {jobs.length === 0 ? (
        <p class="soft">
          {t("overview.noJobs")} {may("operate") && <Link to="/new">{t("new")}</Link>}
        </p>
      ) : (
        <ul>
          {jobs.map((job) => (
            <li key={job.id}>
              <Line job={job} />
            </li>
          ))}
        </ul>
      )}
      {all.length > SHOWN && <Link to="/jobs">{t("overview.moreJobs", { count: all.length - SHOWN })}</Link>}
    </Panel>
  );
}

const isRunning = ({ state, paused }: Job): boolean => state === "running" && !paused;

function Line({ job }: { readonly job: Job }) {
  const now = useLiveJob(job);
  const { tilesPerSecond, timeLeft, reason } = now;
  return (
    <>
      <span class="name">
        <JobLink job={now} /> <span class="soft">{now.layer}</span>
      </span>
      <JobMeter job={job} />
      <JobChip job={job} />
      <span class="soft rest">
        {reason ??
          [
            ...(tilesPerSecond === null ? [] : [t("job.rate", { rate: decimal(tilesPerSecond) })]),
            ...(timeLeft === null ? [] : [t("job.left", { time: duration(timeLeft.seconds) })]),
          ].join(" · ")}
      </span>
    </>
  );
}
