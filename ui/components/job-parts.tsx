import { hasEnded, type Job, type JobKind, kindOf, processedOf, progressOf, useLiveJob } from "../core/model/jobs.ts";
import { pathOf } from "../core/page/router.ts";
import { share } from "../core/server/json.ts";
import { count } from "../core/text/format.ts";
import { t, tMaybe } from "../core/text/i18n.ts";
import { Link } from "./link.tsx";
import { Chip, Meter, type Tone } from "./parts.tsx";

export const KIND_TONES: Readonly<Record<JobKind, Tone>> = {
  running: "busy",
  pending: "plain",
  paused: "plain",
  done: "good",
  done_with_failures: "warn",
  failed: "bad",
  aborted: "plain",
};

/** The present state or the outcome of a job. */
export function JobChip({ job }: { readonly job: Job }) {
  const now = useLiveJob(job);
  const kind = kindOf(now);
  return <Chip tone={now.reason !== null && kind === "running" ? "warn" : KIND_TONES[kind]}>{t(`kind.${kind}`)}</Chip>;
}

/** A bar with the present progress of a job. */
export function JobMeter({ job }: { readonly job: Job }) {
  const now = useLiveJob(job);
  if (now.type === "truncate" && Number(now.tiles.total) === 0) return <>—</>;
  return <Meter value={progressOf(now)} label={t("job.progress", { id: now.id })} tone={toneOf(now)} />;
}

function toneOf(job: Job): Tone {
  if (Number(job.tiles.failed) > 0) return share(job.tiles.failed, processedOf(job.tiles)) === 1 ? "bad" : "warn";
  return hasEnded(job) && job.outcome === "done" ? "good" : "busy";
}

/** The tiles of a job as "done of total", and the number of failed tiles. */
export function JobTiles({ job }: { readonly job: Job }) {
  const { type, tiles } = useLiveJob(job);
  if (type === "truncate") return <>{t("job.deleted", { count: tiles.deleted ?? 0 })}</>;
  return (
    <>
      {t("job.ofTotal", { done: count(processedOf(tiles)), total: count(tiles.total) })}
      {Number(tiles.failed) > 0 && <span class="failed-count"> {t("job.failedTiles", { count: tiles.failed })}</span>}
    </>
  );
}

/** A link to a job: "#41 seed". */
export function JobLink({ job }: { readonly job: Pick<Job, "id" | "type"> }) {
  return (
    <Link to={pathOf("jobs", job.id)}>
      #{job.id} {tMaybe(`type.${job.type}`)}
    </Link>
  );
}
