import { conflict, type Refusal } from "../../../lib/refusal.ts";
import { refuse } from "../../../lib/result.ts";
import { isoTime } from "../../../lib/time/iso-time.ts";
import { administering, type RouteOptions } from "../../resource.ts";
import { documentAnswer, reader } from "../api-answer.ts";
import { type ApiOperation, operation } from "../api-operation.ts";
import type { Documents } from "../documents/documents.ts";
import { gone } from "../openapi/openapi-parts.ts";
import { withoutQuery } from "../query-fields.ts";
import type { LeadView } from "./node-view.ts";

export const nodeOperations = [
  operation(
    "GET /nodes",
    "listNodes",
    "Lists the nodes of the cluster; a server without a cluster is the only node",
    { answers: "Nodes" },
    ({ nodes, lead, node }: Pick<RouteOptions, "nodes" | "lead" | "node">) =>
      reader(async () => {
        const [listed, led] = await Promise.all([nodes(), lead()]);
        return documentAnswer("Nodes", {
          nodes: listed,
          lead: led === undefined ? null : leadDocument(led),
          self: node?.name ?? null,
        });
      }),
  ),
  operation(
    "DELETE /nodes/{name}",
    "removeNode",
    "Removes a lost node from the list",
    { answers: gone, failures: [404, 409] },
    ({ removeNode }: Pick<RouteOptions, "removeNode">, name) =>
      administering(
        withoutQuery(async () => {
          const outcome = await removeNode(name);
          if (outcome === "unknown") return refuse(unknownNode(name));
          if (outcome === "alone") return refuse(conflict("This server is alone: it has no lost nodes."));
          if (outcome === "present")
            return refuse(conflict(`The node ${name.slice(0, 100)} is not lost: only a lost node can be removed.`));
          return { status: 204, body: "" };
        }),
      ),
  ),
  drainOperation("POST", "drainNode", "Takes a node out of the balancer and gives it no further renders"),
  drainOperation("DELETE", "undrainNode", "Ends the draining of a node"),
];

/** A drained node gets no further renders and is not ready. */
function drainOperation(method: "POST" | "DELETE", id: string, summary: string): ApiOperation {
  const about = { answers: "Node", failures: [404, 409] };
  return operation(
    `${method} /nodes/{name}/drain`,
    id,
    summary,
    about,
    ({ drainNode }: Pick<RouteOptions, "drainNode">, name) =>
      administering(
        withoutQuery(async () => {
          const outcome = await drainNode(name, method === "POST");
          if (outcome === "alone") return refuse(conflict("This server is alone: no other node could do its work."));
          if (outcome === "last") return refuse(conflict("All other nodes are drained: no node could do its work."));
          if (outcome === "leaving")
            return refuse(conflict("The node is shutting down: it joins again at its next start."));
          if (outcome === "unknown") return refuse(unknownNode(name));
          return documentAnswer("Node", outcome);
        }),
      ),
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
