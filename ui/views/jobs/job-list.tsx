import { useSignal } from "@preact/signals";
import { KIND_TONES } from "../../components/job-parts.tsx";
import { Link } from "../../components/link.tsx";
import { Pages } from "../../components/pages.tsx";
import { Chip, Empty, Loading, Page } from "../../components/parts.tsx";
import { JOB_KINDS, useJobChanges } from "../../core/model/jobs.ts";
import { place } from "../../core/page/router.ts";
import { type Doc, queryOf } from "../../core/server/api.ts";
import { type Loaded, useDocument } from "../../core/server/resource.ts";
import { may } from "../../core/server/session.ts";
import { count } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";
import { BulkBar } from "./bulk-bar.tsx";
import { JobFilters } from "./job-filters.tsx";
import { rowsOf } from "./job-rows.ts";
import { JobTable } from "./job-table.tsx";
import { KillMenu } from "./kill-menu.tsx";
import { FILTERS, jobsPath, kindIn, listAddress } from "./list-query.ts";

/** The list of all jobs. */
export function JobList() {
  const loaded = useJobs(undefined);
  return (
    <Page title={t("nav.jobs")} actions={<KillMenu onDone={loaded.reload} />}>
      <Jobs loaded={loaded} />
    </Page>
  );
}

/** Lists the jobs of one layer, for the layer's page. */
export function LayerJobs({ layer }: { readonly layer: string }) {
  const loaded = useJobs(layer);
  return (
    <>
      <div class="list-head">
        <Link to="/jobs">{t("jobs.ofAllLayers")}</Link>
        <KillMenu layer={layer} onDone={loaded.reload} />
      </div>
      <Jobs loaded={loaded} layer={layer} />
    </>
  );
}

/** Reads the jobs again when a job appears, ends, or is paused. Counts of running jobs follow events. */
function useJobs(layer: string | undefined): Loaded<Doc<"Jobs">> {
  const loaded = useDocument("Jobs", jobsPath(place.value.query, layer));
  useJobChanges(loaded.reload, (job) => layer === undefined || job.layer === layer);
  return loaded;
}

function Jobs({ loaded, layer }: { readonly loaded: Loaded<Doc<"Jobs">>; readonly layer?: string }) {
  return (
    <>
      <KindChips counts={loaded.data?.counts} />
      <JobFilters layer={layer} />
      <Loading of={loaded}>{(data) => <Found data={data} layer={layer} reload={loaded.reload} />}</Loading>
    </>
  );
}

interface FoundProps {
  readonly data: Doc<"Jobs">;
  readonly layer: string | undefined;
  readonly reload: () => void;
}

function Found({ data, layer, reload }: FoundProps) {
  const { query } = place.value;
  const selected = useSignal<ReadonlySet<number>>(new Set());
  const open = new Set((query.get("open") ?? "").split(",").map(Number).filter(Boolean));
  if (data.jobs.length === 0) return <NoJobs query={query} layer={layer} />;
  return (
    <>
      <BulkBar jobs={data.jobs} selected={selected} onDone={reload} />
      <JobTable rows={rowsOf(data.jobs, open)} open={open} selected={selected} />
      <Pages rows={data.jobs} />
    </>
  );
}

function NoJobs({ query, layer }: { readonly query: URLSearchParams; readonly layer: string | undefined }) {
  const isFiltered = [...FILTERS, "state", "after"].some((key) => query.has(key));
  return (
    <Empty>
      {t(isFiltered ? "jobs.noneFound" : "jobs.none")}{" "}
      {isFiltered ? (
        <Link to={place.value.path}>{t("jobs.showAll")}</Link>
      ) : (
        may("operate") && <Link to={`/new${queryOf({ layer })}`}>{t("new")}</Link>
      )}
    </Empty>
  );
}

/** The kinds of jobs with their numbers. Each kind is a link that filters the list. */
function KindChips({ counts }: { readonly counts: Doc<"Jobs">["counts"] }) {
  const { query } = place.value;
  const current = kindIn(query);
  const to = (state?: string): string => {
    const next = new URLSearchParams(query);
    for (const key of ["state", "after", "open"]) next.delete(key);
    if (state !== undefined) next.set("state", state);
    return listAddress(next);
  };
  const all = JOB_KINDS.reduce((sum, kind) => sum + (counts?.[kind] ?? 0), 0);
  return (
    <nav class="kinds" aria-label={t("jobs.kinds")}>
      <Link to={to()} current={current === undefined}>
        {t("jobs.all")} <b>{counts === undefined ? "…" : count(all)}</b>
      </Link>
      {JOB_KINDS.map((kind) => (
        <Link key={kind} to={to(kind)} current={current === kind}>
          <Chip tone={KIND_TONES[kind]}>{t(`kind.${kind}`)}</Chip>
          <b>{counts === undefined ? "…" : count(counts[kind])}</b>
        </Link>
      ))}
    </nav>
  );
}
