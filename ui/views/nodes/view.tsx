import { Figure } from "../../components/facts.tsx";
import { Empty, Loading, Page } from "../../components/parts.tsx";
import type { Doc } from "../../core/api.ts";
import { count, dateTime, milliseconds, relative } from "../../core/format.ts";
import { t } from "../../core/i18n.ts";
import { useDocument } from "../../core/resource.ts";
import { NodeTable } from "./node-table.tsx";

/** Lags and leases change without an event. */
const READ_MS = 2_000;

/** The nodes of a cluster: the leading node, the state of each node, and actions to drain or remove a node. */
export function View() {
  const loaded = useDocument("Nodes", "nodes", { everyMs: READ_MS });
  return (
    <Page title={t("nav.nodes")}>
      <Loading of={loaded}>
        {(cluster) =>
          cluster.self === null ? (
            <Empty>{t("nodes.alone")}</Empty>
          ) : (
            <div class="nodes">
              {cluster.lead !== null && <Lead lead={cluster.lead} />}
              <NodeTable cluster={cluster} reload={loaded.reload} />
              <p class="soft">{t("nodes.means")}</p>
            </div>
          )
        }
      </Loading>
    </Page>
  );
}

function Lead({ lead: { node, epoch, since, lease } }: { readonly lead: NonNullable<Doc<"Nodes">["lead"]> }) {
  return (
    <dl class="figures">
      <Figure name={t("nodes.lead")}>
        {node}
        <small>
          <time dateTime={since} title={dateTime(since)}>
            {t("nodes.leadsSince", { age: relative(since) })}
          </time>
        </small>
      </Figure>
      <Figure name={t("nodes.epoch")}>{count(epoch)}</Figure>
      <Figure name={t("nodes.leadLease")}>{milliseconds(lease)}</Figure>
    </dl>
  );
}
