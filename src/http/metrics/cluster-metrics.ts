import { NODE_STATES } from "../api/nodes/node-view.ts";
import { counter, gauge, type Metric, type Values } from "./metric.ts";
import type { ClusterSample, NodeSample } from "./metrics-sample.ts";

const seconds = (ms: number): number => ms / 1000;

/**
 * Returns the metrics that each node of a cluster reports about itself, and the metrics that the leading node reports
 * about all nodes.
 */
export const nodeMetrics = ({ node, cluster }: NodeSample): readonly Metric[] => [
  gauge("cluster_node_info", "1; the name of the node is a label", [[{ node: node.name }, 1]]),
  gauge("cluster_lead", "1: this node leads", node.leads ? 1 : 0),
  gauge(
    "cluster_lease_seconds",
    "Remaining time of the lease of this node; 0: the node is cut off",
    seconds(node.leaseLeftMs),
  ),
  counter("cluster_takeovers_total", "How often this node has taken the lead", node.takeovers),
  ...(cluster === undefined ? [] : clusterMetrics(cluster)),
];

function clusterMetrics({ lead, nodes }: ClusterSample): readonly Metric[] {
  const byNode = (of: (node: (typeof nodes)[number]) => number): Values =>
    nodes.map((node) => [{ node: node.name }, of(node)]);
  return [
    gauge("cluster_epoch", "Number of the lead; it rises by one with each new lead", lead.epoch),
    gauge(
      "cluster_lead_lease_age_seconds",
      "Time since the lead has renewed its lease in the database",
      seconds(lead.renewedMs),
    ),
    gauge(
      "cluster_nodes",
      "Nodes by state, as in /api/v1/nodes",
      NODE_STATES.map((state) => [{ state }, nodes.filter((node) => node.state === state).length]),
    ),
    counter("cluster_nodes_lost_total", "Nodes whose connection was lost without a message", lead.lostNodes),
    gauge(
      "cluster_node_lag_seconds",
      "Time since the last message of a node to the lead",
      byNode(({ lag }) => seconds(lag)),
    ),
    gauge(
      "cluster_node_renders",
      "Metatiles that a node is rendering",
      byNode(({ work }) => work.renders),
    ),
    counter(
      "cluster_node_metatiles_total",
      "Metatiles that a node has rendered since it joined this lead",
      byNode(({ work }) => work.metatiles),
    ),
  ];
}
