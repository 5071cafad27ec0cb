import { useSignal } from "@preact/signals";
import { Link } from "../../components/link.tsx";
import { Pages } from "../../components/pages.tsx";
import { Empty, Loading, Page } from "../../components/parts.tsx";
import type { Doc } from "../../core/api.ts";
import { t } from "../../core/i18n.ts";
import { useJobChanges } from "../../core/jobs.ts";
import { useDocument } from "../../core/resource.ts";
import { place } from "../../core/router.ts";
import { may } from "../../core/session.ts";
import { BulkBar } from "./bulk-bar.tsx";
import { JobFilters } from "./job-filters.tsx";
import { rowsOf } from "./job-rows.ts";
import { JobTable } from "./job-table.tsx";
import { KillMenu } from "./kill-menu.tsx";
import { KindChips } from "./kind-chips.tsx";
import { FILTERS, isFullPage, jobsPath } from "./list-query.ts";

/** The list of jobs: it is read again when a job appears, ends, or is paused. Counts of running jobs follow events. */
export function JobList() {
  const loaded = useDocument("Jobs", jobsPath(place.value.query));
  useJobChanges(loaded.reload);
  return (
    <Page title={t("jobs.title")} actions={<KillMenu onDone={loaded.reload} />}>
      <KindChips counts={loaded.data?.counts} />
      <JobFilters />
      <Loading of={loaded}>{(data) => <Found data={data} reload={loaded.reload} />}</Loading>
    </Page>
  );
}

function Found({ data, reload }: { readonly data: Doc<"Jobs">; readonly reload: () => void }) {
  const { query } = place.value;
  const selected = useSignal<ReadonlySet<number>>(new Set());
  const open = new Set((query.get("open") ?? "").split(",").map(Number).filter(Boolean));
  if (data.jobs.length === 0) return <NoJobs query={query} />;
  return (
    <>
      <BulkBar jobs={data.jobs} selected={selected} onDone={reload} />
      <JobTable rows={rowsOf(data.jobs, open)} open={open} selected={selected} />
      <Pages path="/jobs" lastId={data.jobs.at(-1)?.id} isFull={isFullPage(data.jobs.length)} />
    </>
  );
}

function NoJobs({ query }: { readonly query: URLSearchParams }) {
  const isFiltered = [...FILTERS, "state", "after"].some((key) => query.has(key));
  return (
    <Empty>
      {t(isFiltered ? "jobs.noneFound" : "jobs.none")}{" "}
      {isFiltered ? <Link to="/jobs">{t("jobs.showAll")}</Link> : may("operate") && <Link to="/new">{t("new")}</Link>}
    </Empty>
  );
}
