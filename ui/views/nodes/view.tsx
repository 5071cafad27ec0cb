import { Age } from "../../components/age.tsx";
import { Action } from "../../components/dialogs/action.tsx";
import { Figures } from "../../components/facts.tsx";
import { Chip, Empty, Loading, Page, type Tone } from "../../components/parts.tsx";
import { type Columns, Table } from "../../components/table.tsx";
import type { Doc } from "../../core/server/api.ts";
import { nuthatchCommand } from "../../core/server/command.ts";
import { useDocument } from "../../core/server/resource.ts";
import { count, milliseconds, relative } from "../../core/text/format.ts";
import { t } from "../../core/text/i18n.ts";

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
            <div class="nodes stack">
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
    <Figures
      figures={[
        [t("nodes.lead"), node, <Age at={since} text={t("nodes.leadsSince", { age: relative(since) })} />],
        [t("nodes.epoch"), count(epoch)],
        [t("nodes.leadLease"), milliseconds(lease)],
      ]}
    />
  );
}

type Cluster = Doc<"Nodes">;
type Node = Cluster["nodes"][number];

const TONES: Readonly<Record<Node["state"], Tone>> = { ready: "good", draining: "warn", lost: "bad" };

interface NodeTableProps {
  readonly cluster: Cluster;
  readonly reload: () => void;
}

/** A row for each node. */
const NodeTable = ({ cluster, reload }: NodeTableProps) => (
  <Table
    caption={t("nav.nodes")}
    columns={columnsOf(cluster, reload)}
    rows={cluster.nodes}
    rowKey={({ name }) => name}
  />
);

const columnsOf = ({ self, nodes }: Cluster, reload: () => void): Columns<Node> => [
  [
    t("nodes.node"),
    ({ name, lead, version }) => (
      <span class="row node-name">
        <b>{name}</b>
        {lead && <Chip tone="busy">{t("nodes.lead")}</Chip>}
        {name === self && <small>{t("nodes.self")}</small>}
        <small>{t("overview.version", { version })}</small>
      </span>
    ),
  ],
  [t("field.state"), ({ state }) => <Chip tone={TONES[state]}>{t(`nodes.state.${state}`)}</Chip>],
  [t("nodes.since"), ({ since }) => <Age at={since} />],
  [t("nodes.lag"), ({ lag }) => milliseconds(lag), "number"],
  [t("nodes.lease"), ({ lease }) => (lease === null ? "–" : milliseconds(lease)), "number"],
  [t("nodes.tiles"), ({ work }) => count(work.tiles), "number"],
  [t("nodes.renders"), ({ work }) => count(work.renders), "number"],
  [t("nodes.metatiles"), ({ work }) => count(work.metatiles), "number"],
  [t("nodes.balancer"), (node) => <NodeAction node={node} nodes={nodes} reload={reload} />],
];

/** The action for a node in each state. */
const ACTIONS = { ready: "drain", draining: "undrain", lost: "remove" } as const;

interface NodeActionProps {
  readonly node: Node;
  readonly nodes: readonly Node[];
  readonly reload: () => void;
}

/**
 * Removes a lost node from the list, or begins or ends the drain of a node. Hidden for the last node that is not drained,
 * because the server refuses it.
 */
function NodeAction({ node: { name, state }, nodes, reload }: NodeActionProps) {
  if (state === "ready" && nodes.every((one) => one.name === name || one.state !== "ready")) return null;
  const action = ACTIONS[state];
  const node = `nodes/${encodeURIComponent(name)}`;
  const path = action === "remove" ? node : `${node}/drain`;
  const title = t(`nodes.${action}.of`, { name });
  return (
    <Action
      label={t(`nodes.${action}`)}
      title={title}
      request={{ method: action === "drain" ? "POST" : "DELETE", path }}
      command={
        action === "undrain" ? nuthatchCommand("node", "drain", name, "--undo") : nuthatchCommand("node", action, name)
      }
      need="administer"
      isSmall
      {...(action === "undrain" ? {} : { confirm: { title, body: <p>{t(`nodes.${action}.means`)}</p> } })}
      done={() => ({ text: t(`nodes.${action}.done`, { name }) })}
      onDone={reload}
    />
  );
}
