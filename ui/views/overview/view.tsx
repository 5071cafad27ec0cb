import { Link } from "../../components/link.tsx";
import { Chip, Loading, Page } from "../../components/parts.tsx";
import { useJobChanges } from "../../core/model/jobs.ts";
import type { Doc } from "../../core/server/api.ts";
import { useDocument } from "../../core/server/resource.ts";
import { t } from "../../core/text/i18n.ts";
import { Attention } from "./attention.tsx";
import { Hits } from "./hits.tsx";
import { JobsNow } from "./jobs-now.tsx";
import { NoLayers } from "./no-layers.tsx";
import { QuotaPanel } from "./quota-panel.tsx";
import { SchedulesPanel } from "./schedules-panel.tsx";
import { UpstreamsPanel } from "./upstreams-panel.tsx";

const STATUS_MS = 60_000;

/**
 * Shows the running jobs, the problems that need an operator, and the state of the cache. Every figure links to the
 * view that explains it.
 */
export function View() {
  const status = useDocument("Status", "status", {
    on: ["upstream", "schedule", "quota", "configuration", "truncation"],
    everyMs: STATUS_MS,
  });
  useJobChanges(status.reload);
  return (
    <Page title={t("nav.overview")} actions={status.data && <Readiness status={status.data} />}>
      <Loading of={status}>{(data) => (data.layers === 0 ? <NoLayers /> : <Panels status={data} />)}</Loading>
    </Page>
  );
}

function Panels({ status }: { readonly status: Doc<"Status"> }) {
  return (
    <>
      {status.stateLoss !== null && <p class="notice warn">{status.stateLoss.reason}</p>}
      <Attention entries={status.attention} />
      <JobsNow />
      <div class="panels wide">
        <QuotaPanel usage={status.usage} disk={status.disk} />
        <Hits />
        <UpstreamsPanel />
        <SchedulesPanel />
      </div>
    </>
  );
}

function Readiness({ status: { ready, reason, version, layers } }: { readonly status: Doc<"Status"> }) {
  return (
    <p class="row readiness">
      <Link to="/settings" class="server-chip">
        <Chip tone={ready ? "good" : "bad"}>{ready ? t("ready") : t("notReady")}</Chip>
      </Link>
      {reason !== null && <span>{reason}</span>}
      <Link to="/layers">{t("find.count", { count: layers })}</Link>
      <Link to="/settings">{t("overview.version", { version })}</Link>
    </p>
  );
}
