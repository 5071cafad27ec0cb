import { conflict, type Refusal } from "../../../lib/refusal.ts";
import { ok, refuse } from "../../../lib/result.ts";
import { isoTime } from "../../../lib/time/iso-time.ts";
import { type ApiOperation, noContent, operation } from "../api-operation.ts";
import type { Documents } from "../documents/documents.ts";
import { NO_FIELDS } from "../query-fields.ts";
import type { LeadView } from "./node-view.ts";

export const nodeOperations = [
  operation(
    "GET /nodes",
    "listNodes",
    "Lists the nodes of the cluster; a server without a cluster is the only node",
    { answer: "Nodes" },
    async ({ nodes, lead, node }) => {
      const [listed, led] = await Promise.all([nodes(), lead()]);
      return ok({ nodes: listed, lead: led === undefined ? null : leadDocument(led), self: node?.name ?? null });
    },
  ),
  operation(
    "DELETE /nodes/{name}",
    "removeNode",
    "Removes a lost node from the list",
    { need: "administer", query: NO_FIELDS, failures: [404, 409] },
    async ({ removeNode }, { key }) => {
      const outcome = await removeNode(key);
      if (outcome === "unknown") return refuse(unknownNode(key));
      if (outcome === "alone") return refuse(conflict("This server is alone: it has no lost nodes."));
      if (outcome === "present")
        return refuse(conflict(`The node ${key.slice(0, 100)} is not lost: only a lost node can be removed.`));
      return noContent();
    },
  ),
  drainOperation("POST", "drainNode", "Takes a node out of the balancer and gives it no further renders"),
  drainOperation("DELETE", "undrainNode", "Ends the draining of a node"),
];

/** A drained node gets no further renders and is not ready. */
function drainOperation(method: "POST" | "DELETE", id: string, summary: string): ApiOperation {
  return operation(
    `${method} /nodes/{name}/drain`,
    id,
    summary,
    { need: "administer", query: NO_FIELDS, answer: "Node", failures: [404, 409] },
    async ({ drainNode }, { key }) => {
      const outcome = await drainNode(key, method === "POST");
      if (outcome === "alone") return refuse(conflict("This server is alone: no other node could do its work."));
      if (outcome === "last") return refuse(conflict("All other nodes are drained: no node could do its work."));
      if (outcome === "leaving")
        return refuse(conflict("The node is shutting down: it joins again at its next start."));
      return outcome === "unknown" ? refuse(unknownNode(key)) : ok(outcome);
    },
  );
}

const leadDocument = ({ node, epoch, sinceMs, leaseMs }: LeadView): Documents["Nodes"]["lead"] => ({
  node,
  epoch,
  since: isoTime(sinceMs),
  lease: Math.round(leaseMs),
});

const unknownNode = (name: string): Refusal => ({
  code: "not_found",
  message: `Unknown node: ${name.slice(0, 100)}. GET /api/v1/nodes lists their names.`,
});
