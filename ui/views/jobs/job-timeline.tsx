import { useSignal } from "@preact/signals";
import { Button } from "../../components/button.tsx";
import { Loading, Panel } from "../../components/parts.tsx";
import { hasEnded, type Job } from "../../core/model/jobs.ts";
import { useNow } from "../../core/page/now.ts";
import type { Doc } from "../../core/server/api.ts";
import { type Loaded, useDocument } from "../../core/server/resource.ts";
import { dateTime, duration } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";
import { reasonText } from "./outcome.ts";
import { hiddenOf, isStandstill, type LastingEntry, lasting } from "./timeline.ts";

/** Reads the timeline of a job, and reads it again when the job starts, waits, is paused, is resumed or ends. */
export function useTimeline(job: Job): Loaded<Doc<"JobTimeline">> {
  const { id, startedAt, paused, reason, outcome } = job;
  return useDocument("JobTimeline", `jobs/${id}/timeline`, {
    version: [startedAt, paused, reason, outcome].join(),
  });
}

/** Shows the events of the job, oldest first: the account, the reason, and how long the job waited or was paused. */
export function JobTimeline({ job, loaded }: { readonly job: Job; readonly loaded: Loaded<Doc<"JobTimeline">> }) {
  return (
    <Panel title={t("timeline")}>
      <Loading of={loaded}>{({ timeline }) => <Moments moments={lasting(timeline)} job={job} />}</Loading>
    </Panel>
  );
}

function Moments({ moments, job }: { readonly moments: readonly LastingEntry[]; readonly job: Job }) {
  const isWhole = useSignal(false);
  const hidden = new Set(isWhole.value ? [] : hiddenOf(moments));
  const isLive = !hasEnded(job);
  return (
    <ol class="timeline">
      {moments.map((moment, n) =>
        !hidden.has(moment) ? (
          <li key={`${moment.at} ${moment.event}`}>
            <ShownMoment moment={moment} isLive={isLive} />
          </li>
        ) : (
          n === 1 && (
            <li key="hidden">
              <Button
                label={t("timeline.hidden", { count: hidden.size })}
                class="quiet small"
                onPress={() => (isWhole.value = true)}
              />
            </li>
          )
        ),
      )}
    </ol>
  );
}

function ShownMoment({ moment, isLive }: { readonly moment: LastingEntry; readonly isLive: boolean }) {
  const { at, event, by, seconds } = moment;
  const reason = reasonText(moment.reason);
  const isStill = isStandstill(moment);
  return (
    <>
      <time dateTime={at}>{dateTime(at)}</time> <b>{t(`timeline.${event}`)}</b>
      {by !== null && ` ${t("timeline.by", { name: by })}`}
      {isStill && seconds !== undefined && ` (${duration(seconds)})`}
      {isStill && seconds === undefined && isLive && <SoFar since={at} />}
      {reason !== undefined && <small>{reason}</small>}
    </>
  );
}

/** Shows the elapsed time, updated each second. Screen readers do not announce the updates. */
function SoFar({ since }: { readonly since: string }) {
  const seconds = (useNow() - Date.parse(since)) / 1000;
  return <> ({t("timeline.soFar", { time: duration(seconds) })})</>;
}
