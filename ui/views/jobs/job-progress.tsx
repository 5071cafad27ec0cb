import { Fact } from "../../components/facts.tsx";
import { JobMeter } from "../../components/job-parts.tsx";
import { Loading, Meter, Panel, type Tone } from "../../components/parts.tsx";
import { bytes, count, decimal, duration } from "../../core/format.ts";
import { t } from "../../core/i18n.ts";
import { hasEnded, type Job, processedOf } from "../../core/jobs.ts";
import { share } from "../../core/json.ts";
import { useDocument } from "../../core/resource.ts";

/** Shows the progress, the rate and the remaining tiles of the job, and of each level. */
export function JobProgress({ job }: { readonly job: Job }) {
  return (
    <Panel title={t("field.progress")} class="job-progress">
      {job.type !== "truncate" && <JobMeter job={job} />}
      <dl class="figures">
        {figuresOf(job).map(({ name, value, more }) => (
          <div key={name}>
            <Fact name={name}>
              {value}
              {more !== undefined && <small>{more}</small>}
            </Fact>
          </div>
        ))}
      </dl>
      {job.type !== "truncate" && <Levels job={job} />}
    </Panel>
  );
}

interface Figure {
  readonly name: string;
  readonly value: string;
  readonly more?: string | undefined;
}

function figuresOf(job: Job): readonly Figure[] {
  const { type, tiles, tilesPerSecond, timeLeft, secondsWorked, retries } = job;
  const worked = { name: t("job.worked"), value: duration(secondsWorked) };
  if (type === "truncate") return [{ name: t("job.deletedTiles"), value: count(tiles.deleted ?? 0) }, worked];
  return [
    {
      name: t("field.tiles"),
      value: t("job.ofTotal", { done: count(processedOf(tiles)), total: count(tiles.total) }),
      more: t("job.parts", { stored: count(tiles.stored), skipped: count(tiles.skipped), failed: count(tiles.failed) }),
    },
    {
      name: hasEnded(job) ? t("job.meanRate") : t("field.rate"),
      value: tilesPerSecond === null ? "—" : t("job.rate", { rate: decimal(tilesPerSecond) }),
      more: retries > 0 ? t("job.retries", { count: retries }) : undefined,
    },
    ...(hasEnded(job)
      ? []
      : [
          {
            name: t("job.timeLeft"),
            value: timeLeft === null ? t("job.timeUnknown") : duration(timeLeft.seconds),
            more: timeLeft === null ? undefined : rangeOf(timeLeft),
          },
        ]),
    worked,
    { name: t("job.written"), value: bytes(job.bytes) },
  ];
}

const rangeOf = ({ least, most, confidence }: NonNullable<Job["timeLeft"]>): string =>
  t("job.timeRange", {
    from: duration(least),
    to: most === null ? t("job.orMore") : duration(most),
    confidence: t(`confidence.${confidence}`),
  });

/** How far each level is. Events tell the sum of the levels: when the sum changes, the levels are read again. */
function Levels({ job: { id, tiles } }: { readonly job: Job }) {
  const loaded = useDocument("JobLevels", `jobs/${id}/levels`, { version: `${processedOf(tiles)} ${tiles.failed}` });
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
