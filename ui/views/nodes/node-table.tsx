import { Action } from "../../components/action.tsx";
import { Chip, type Tone } from "../../components/parts.tsx";
import { type Column, Table } from "../../components/table.tsx";
import type { Doc } from "../../core/api.ts";
import { nuthatchCommand } from "../../core/command.ts";
import { count, dateTime, milliseconds, relative } from "../../core/format.ts";
import { t } from "../../core/i18n.ts";

type Cluster = Doc<"Nodes">;
type Node = Cluster["nodes"][number];

const TONES: Readonly<Record<Node["state"], Tone>> = { ready: "good", draining: "warn", lost: "bad" };

interface NodeTableProps {
  readonly cluster: Cluster;
  readonly reload: () => void;
}

/** A row for each node. */
export const NodeTable = ({ cluster, reload }: NodeTableProps) => (
  <Table
    caption={t("nav.nodes")}
    columns={columnsOf(cluster, reload)}
    rows={cluster.nodes}
    rowKey={({ name }) => name}
  />
);

const columnsOf = ({ self, nodes }: Cluster, reload: () => void): readonly Column<Node>[] => [
  {
    key: "node",
    label: t("nodes.node"),
    cell: ({ name, lead, version }) => (
      <span class="node-name">
        <b>{name}</b>
        {lead && <Chip tone="busy">{t("nodes.lead")}</Chip>}
        {name === self && <small>{t("nodes.self")}</small>}
        <small>{t("overview.version", { version })}</small>
      </span>
    ),
  },
  {
    key: "state",
    label: t("field.state"),
    cell: ({ state }) => <Chip tone={TONES[state]}>{t(`nodes.state.${state}`)}</Chip>,
  },
  {
    key: "since",
    label: t("nodes.since"),
    cell: ({ since }) => (
      <time dateTime={since} title={dateTime(since)}>
        {relative(since)}
      </time>
    ),
  },
  { key: "lag", label: t("nodes.lag"), isNumber: true, cell: ({ lag }) => milliseconds(lag) },
  {
    key: "lease",
    label: t("nodes.lease"),
    isNumber: true,
    cell: ({ lease }) => (lease === null ? "–" : milliseconds(lease)),
  },
  { key: "tiles", label: t("nodes.tiles"), isNumber: true, cell: ({ work }) => count(work.tiles) },
  { key: "renders", label: t("nodes.renders"), isNumber: true, cell: ({ work }) => count(work.renders) },
  { key: "metatiles", label: t("nodes.metatiles"), isNumber: true, cell: ({ work }) => count(work.metatiles) },
  {
    key: "drain",
    label: t("nodes.balancer"),
    cell: (node) =>
      node.state === "lost" ? (
        <Remove name={node.name} reload={reload} />
      ) : (
        <Drain node={node} nodes={nodes} reload={reload} />
      ),
  },
];

/** Removes a lost node from the list. */
const Remove = ({ name, reload }: { readonly name: string; readonly reload: () => void }) => (
  <Action
    label={t("nodes.remove")}
    title={t("nodes.remove.of", { name })}
    request={{ method: "DELETE", path: `nodes/${encodeURIComponent(name)}` }}
    command={nuthatchCommand("node", "remove", name)}
    need="administer"
    isSmall
    confirm={{ title: t("nodes.remove.of", { name }), body: <p>{t("nodes.remove.means")}</p> }}
    done={() => ({ text: t("nodes.removed", { name }) })}
    onDone={reload}
  />
);

interface DrainProps {
  readonly node: Node;
  readonly nodes: readonly Node[];
  readonly reload: () => void;
}

/** Begins or ends the drain of a node. Hidden for the last node that is not drained, because the server refuses it. */
function Drain({ node: { name, state }, nodes, reload }: DrainProps) {
  const isDrained = state === "draining";
  if (!isDrained && nodes.every((one) => one.name === name || one.state !== "ready")) return null;
  const path = `nodes/${encodeURIComponent(name)}/drain`;
  if (isDrained)
    return (
      <Action
        label={t("nodes.undrain")}
        title={t("nodes.undrain.of", { name })}
        request={{ method: "DELETE", path }}
        command={nuthatchCommand("node", "drain", name, "--undo")}
        need="administer"
        isSmall
        done={() => ({ text: t("nodes.undrained", { name }) })}
        onDone={reload}
      />
    );
  return (
    <Action
      label={t("nodes.drain")}
      title={t("nodes.drain.of", { name })}
      request={{ method: "POST", path }}
      command={nuthatchCommand("node", "drain", name)}
      need="administer"
      isSmall
      confirm={{ title: t("nodes.drain.of", { name }), body: <p>{t("nodes.drain.means")}</p> }}
      done={() => ({ text: t("nodes.drained", { name }) })}
      onDone={reload}
    />
  );
}
