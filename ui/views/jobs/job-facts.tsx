import { Commands } from "../../components/dialogs/commands.tsx";
import { Facts, type NamedValue } from "../../components/facts.tsx";
import { Link } from "../../components/link.tsx";
import { Panel } from "../../components/parts.tsx";
import { JOB_OPTIONS } from "../../core/model/job-options.ts";
import { hasEnded, type Job } from "../../core/model/jobs.ts";
import { jsonText } from "../../core/server/json.ts";
import { count, dateTime, decimal } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";
import { commandOf, requestOf } from "./job-request.ts";

/** Shows the request of the job, and the account that sent it. */
export function JobFacts({ job }: { readonly job: Job }) {
  return (
    <Panel
      title={t("job.request")}
      actions={
        <Commands
          request={{ method: "POST", path: "jobs", body: requestOf(job) }}
          command={commandOf(job)}
          subject={t("job.same")}
        />
      }
    >
      <Facts facts={factsOf(job)} />
      {!hasEnded(job) && <Tasks tasks={job.tasks} />}
    </Panel>
  );
}

const factsOf = (job: Job): readonly NamedValue[] => [
  [t("field.layer"), <Link to={`/layers/${encodeURIComponent(job.layer)}`}>{job.layer}</Link>],
  [t("field.gridSet"), job.gridSet ?? t("job.allGridSets")],
  [t("field.format"), job.format ?? t("job.allFormats")],
  [t("field.zooms"), t("job.zooms", { from: String(job.zoomStart), to: String(job.zoomStop) })],
  [t("field.parameters"), parametersText(job)],
  [
    t("field.bounds"),
    job.bounds === null ? t("job.wholeLayer") : <code>{job.bounds.map((n) => decimal(n, 6)).join("  ")}</code>,
  ],
  [t("job.limit"), job.limit === null ? null : t(`job.limit.${job.limit}`)],
  [t("job.only"), onlyText(job)],
  [t("field.order"), job.order === "hot" ? t("job.order.hot") : null],
  [t("job.priority"), String(job.priority)],
  [t("job.threads"), job.type === "truncate" ? null : count(job.threadCount)],
  [t("job.rateLimit"), job.rateLimit === null ? t("job.noLimit") : t("job.rate", { rate: decimal(job.rateLimit, 3) })],
  [
    t("job.window"),
    job.runWindow === null ? null : `${job.runWindow.from}–${job.runWindow.to} ${job.runWindow.timeZone}`,
  ],
  [t("job.maxFailures"), job.maxFailures === null ? t("job.noLimit") : count(job.maxFailures)],
  ...JOB_OPTIONS.flatMap(({ name, text, isFact }) =>
    isFact && text !== undefined ? [[t(text), valueText(job, name)] as const] : [],
  ),
  [t("job.createdBy"), `${job.createdBy ?? t("job.nobody")}, ${dateTime(job.createdAt)}`],
  [
    t("field.schedule"),
    job.schedule === null ? null : <Link to={`/schedules/${encodeURIComponent(job.schedule)}`}>{job.schedule}</Link>,
  ],
  [t("job.retryOfName"), job.retryOf === null ? null : <Link to={`/jobs/${job.retryOf}`}>#{job.retryOf}</Link>],
  [
    t("job.batch"),
    job.requestedWith === null ? null : (
      <Link to={`/jobs?requestedWith=${job.requestedWith}`}>{t("job.batchLink", { id: job.requestedWith })}</Link>
    ),
  ],
];

/** Returns the value of an option. Null if the job has none. */
function valueText(job: Job, name: string): string | null {
  const value = new Map<string, unknown>(Object.entries(job)).get(name);
  return value === null || value === undefined ? null : String(value);
}

function parametersText({ parameters, parameterSets, combinations }: Job): string {
  if (parameters !== null) {
    const entries = Object.entries(parameters);
    return entries.length === 0 ? t("job.defaults") : entries.map(([key, value]) => `${key}=${value}`).join(", ");
  }
  if (combinations !== undefined) return t("job.combinations", { count: combinations.length });
  return parameterSets === null ? t("job.allParameters") : parameterSets.map((set) => jsonText(set)).join(", ");
}

function onlyText({ onlyExisting, olderThan }: Job): string | null {
  const parts = [
    ...(onlyExisting ? [t("job.onlyExisting")] : []),
    ...(olderThan === null ? [] : [t("job.olderThan", { time: dateTime(olderThan) })]),
  ];
  return parts.length === 0 ? null : parts.join(", ");
}

/** Shows the ids of the tasks, which the classic interface uses. */
function Tasks({ tasks }: { readonly tasks: Job["tasks"] }) {
  return (
    <details>
      <summary>{t("tasks.title", { count: tasks.length })}</summary>
      <ul class="bullets">
        {tasks.map((id, n) => (
          <li key={id}>
            {t("tasks.one", { n: n + 1, count: tasks.length })} · <code>{String(id)}</code>
          </li>
        ))}
      </ul>
    </details>
  );
}
