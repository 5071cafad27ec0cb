import { Figures } from "../../components/facts.tsx";
import { Link } from "../../components/link.tsx";
import { Loading, Panel, Sparkline } from "../../components/parts.tsx";
import type { Doc } from "../../core/server/api.ts";
import { useDocument } from "../../core/server/resource.ts";
import { count, milliseconds, percent } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";

const EVERY_MS = 60_000;

/** How users' requests of the last hour were answered. */
export function Hits() {
  const stats = useDocument("Stats", "stats?window=PT1H", { everyMs: EVERY_MS });
  return (
    <Panel title={t("overview.hits")} actions={<Link to="/layers">{t("overview.byLayer")}</Link>}>
      <Loading of={stats}>
        {(data) =>
          data.total.requests === 0 ? <p class="soft">{t("overview.noRequests")}</p> : <Numbers stats={data} />
        }
      </Loading>
    </Panel>
  );
}

function Numbers({ stats: { total, series } }: { readonly stats: Doc<"Stats"> }) {
  const { hitRatio, requests, misses, failed, latency } = total;
  const figures = [
    [t("field.hitRatio"), hitRatio === null ? "—" : percent(hitRatio, 1), "/layers"],
    [t("overview.p95"), latency.p95 === null ? "—" : milliseconds(latency.p95), "/layers"],
    [t("layers.requests"), count(requests), "/layers"],
    [t("overview.misses"), count(misses), "/layers"],
    [t("overview.failed"), count(failed), "/upstreams"],
  ] as const;
  return (
    <>
      <Figures figures={figures.map(([name, value, to]) => [name, <Link to={to}>{value}</Link>])} />
      {series.length > 1 && <Sparkline values={series.map((one) => one.requests)} label={t("overview.sparkline")} />}
    </>
  );
}
