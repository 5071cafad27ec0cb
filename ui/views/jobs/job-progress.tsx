import { Figures, type NamedFigure } from "../../components/facts.tsx";
import { JobMeter } from "../../components/job-parts.tsx";
import { Loading, Meter, Panel, type Tone } from "../../components/parts.tsx";
import { hasEnded, type Job, processedOf } from "../../core/model/jobs.ts";
import type { Doc } from "../../core/server/api.ts";
import { share } from "../../core/server/json.ts";
import type { Loaded } from "../../core/server/resource.ts";
import { bytes, count, decimal, duration } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";

/** Shows the progress, the rate and the remaining tiles of the job and of each level. */
export function JobProgress({ job, levels }: { readonly job: Job; readonly levels: Loaded<Doc<"JobLevels">> }) {
  return (
    <Panel title={t("field.progress")} class="job-progress">
      {job.type !== "truncate" && <JobMeter job={job} />}
      <Figures figures={figuresOf(job)} />
      {job.type !== "truncate" && <Levels loaded={levels} />}
    </Panel>
  );
}

function figuresOf(job: Job): readonly NamedFigure[] {
  const { type, tiles, tilesPerSecond, timeLeft, secondsWorked, retries } = job;
  const worked: NamedFigure = [t("job.worked"), duration(secondsWorked)];
  if (type === "truncate") return [[t("job.deletedTiles"), count(tiles.deleted ?? 0)], worked];
  const left: NamedFigure =
    timeLeft === null
      ? [t("job.timeLeft"), t("job.timeUnknown")]
      : [t("job.timeLeft"), duration(timeLeft.seconds), rangeOf(timeLeft)];
  return [
    [
      t("field.tiles"),
      t("job.ofTotal", { done: count(processedOf(tiles)), total: count(tiles.total) }),
      t("job.parts", { stored: count(tiles.stored), skipped: count(tiles.skipped), failed: count(tiles.failed) }),
    ],
    [
      hasEnded(job) ? t("job.meanRate") : t("field.rate"),
      tilesPerSecond === null ? "—" : t("job.rate", { rate: decimal(tilesPerSecond) }),
      retries > 0 ? t("job.retries", { count: retries }) : undefined,
    ],
    ...(hasEnded(job) ? [] : [left]),
    worked,
    [t("job.written"), bytes(job.bytes)],
  ];
}

const rangeOf = ({ least, most, confidence }: NonNullable<Job["timeLeft"]>): string =>
  t("job.timeRange", {
    from: duration(least),
    to: most === null ? t("job.orMore") : duration(most),
    confidence: t(`confidence.${confidence}`),
  });

/** Shows the progress of each level. */
function Levels({ loaded }: { readonly loaded: Loaded<Doc<"JobLevels">> }) {
  return (
    <Loading of={loaded}>
      {({ levels }) => (
        <table class="levels">
          <caption class="hidden">{t("job.levels")}</caption>
          <thead>
            <tr>
              <th scope="col">{t("field.level")}</th>
              <th scope="col">{t("field.progress")}</th>
              <th scope="col" class="number">
                {t("field.tiles")}
              </th>
              <th scope="col" class="number">
                {t("job.failedColumn")}
              </th>
            </tr>
          </thead>
          <tbody>
            {levels.map(({ z, total, processed, failed }) => (
              <tr key={z}>
                <th scope="row">{z}</th>
                <td>
                  <Meter
                    value={share(processed, total)}
                    label={t("job.levelProgress", { z: String(z) })}
                    tone={levelTone(share(processed, total), share(failed, total))}
                  />
                </td>
                <td class="number">{t("job.ofTotal", { done: count(processed), total: count(total) })}</td>
                <td class="number">{Number(failed) > 0 ? count(failed) : "—"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Loading>
  );
}

function levelTone(processed: number, failed: number): Tone {
  if (failed === 1) return "bad";
  if (failed > 0) return "warn";
  return processed === 1 ? "good" : "busy";
}
