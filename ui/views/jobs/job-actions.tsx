import { Action } from "../../components/dialogs/action.tsx";
import { ButtonLink } from "../../components/link.tsx";
import { canRetry, hasEnded, type Job } from "../../core/model/jobs.ts";
import { navigate } from "../../core/page/router.ts";
import { nuthatchCommand } from "../../core/server/command.ts";
import { may } from "../../core/server/session.ts";
import { t } from "../../core/text/i18n.ts";
import { CancelJob } from "./cancel-job.tsx";
import { formQuery, requestOf } from "./job-request.ts";
import { TermsButton } from "./job-terms.tsx";

/** All actions for a job in its state. */
export const JobActions = ({ job, reload }: { readonly job: Job; readonly reload: () => void }) =>
  hasEnded(job) ? (
    <EndedActions job={job} />
  ) : (
    <>
      <LiveActions job={job} reload={reload} />
      <SameAgain job={job} />
    </>
  );

/**
 * Opens the form of a new job or schedule with the fields of a job. Lists of tiles are not in the document of the job.
 */
function SameAgain({ job }: { readonly job: Job }) {
  if (!may("operate") || job.limit === "tiles") return null;
  const query = formQuery(requestOf(job));
  return (
    <>
      <ButtonLink kind="quiet" to={`/new?${query}`} label={t("job.same")} />
      <ButtonLink kind="quiet" to={`/schedules/new?${query}`} label={t("job.asSchedule")} />
    </>
  );
}

function LiveActions({ job, reload }: { readonly job: Job; readonly reload: () => void }) {
  const { id, paused } = job;
  const toggle = paused ? "resume" : "pause";
  return (
    <>
      <Action
        label={t(`action.${toggle}`)}
        kind={paused ? "primary" : "quiet"}
        request={{ method: "POST", path: `jobs/${id}/${toggle}` }}
        command={nuthatchCommand(toggle, id)}
        onDone={reload}
      />
      <TermsButton job={job} onDone={reload} />
      <CancelJob job={job} onDone={reload} />
    </>
  );
}

function EndedActions({ job }: { readonly job: Job }) {
  const { id } = job;
  return (
    <>
      {canRetry(job) && (
        <Action<Job>
          label={job.outcome === "aborted" ? t("job.goOn") : t("job.retryFailed", { count: job.tiles.failed })}
          kind="primary"
          request={{ method: "POST", path: `jobs/${id}/retry` }}
          command={nuthatchCommand("retry", id)}
          onDone={(made) => navigate(`/jobs/${made.id}`)}
        />
      )}
      <SameAgain job={job} />
      <Action
        label={t("job.forget")}
        title={t("action.ofJob", { action: t("job.forget"), id })}
        request={{ method: "DELETE", path: `jobs/${id}` }}
        confirm={{ title: t("job.forgetTitle", { id }), body: <p>{t("job.forgetNote")}</p> }}
        onDone={() => navigate("/jobs")}
      />
    </>
  );
}
