import { conflict, type Refusal } from "../../../lib/refusal.ts";
import { refuse } from "../../../lib/result.ts";
import { isoTime } from "../../../lib/time/iso-time.ts";
import { administering, type Resource, type RouteOptions } from "../../resource.ts";
import { documentAnswer, reader } from "../api-answer.ts";
import type { Documents } from "../documents/documents.ts";
import { withoutQuery } from "../query-fields.ts";
import type { LeadView } from "./node-view.ts";

/** `nodes`: the nodes of the cluster. A server without a cluster is one node. */
export const nodesResource = ({ nodes, lead, node }: RouteOptions): Resource =>
  reader(async () => {
    const [listed, led] = await Promise.all([nodes(), lead()]);
    return documentAnswer("Nodes", {
      nodes: listed,
      lead: led === undefined ? null : leadDocument(led),
      self: node?.name ?? null,
    });
  });

const leadDocument = ({ node, epoch, sinceMs, leaseMs }: LeadView): Documents["Nodes"]["lead"] => ({
  node,
  epoch,
  since: isoTime(sinceMs),
  lease: Math.round(leaseMs),
});

/**
 * `nodes/NAME/drain`: POST begins the drain of a node, which gets no further renders and is not ready; DELETE ends it.
 */
export const drainResource = ({ drainNode }: RouteOptions, name: string): Resource => {
  const answer = (drained: boolean) =>
    administering(
      withoutQuery(async () => {
        const outcome = await drainNode(name, drained);
        if (outcome === "alone") return refuse(conflict("This server is alone: no other node could do its work."));
        if (outcome === "last") return refuse(conflict("All other nodes are drained: none could do its work."));
        if (outcome === "leaving") return refuse(conflict("The node ends: it comes back when it is started again."));
        if (outcome === "unknown") return refuse(unknownNode(name));
        return documentAnswer("Node", outcome);
      }),
    );
  return { methods: { POST: answer(true), DELETE: answer(false) } };
};

/** `nodes/NAME`: DELETE removes a lost node from the list. */
export const nodeResource = ({ removeNode }: RouteOptions, name: string): Resource => ({
  methods: {
    DELETE: administering(
      withoutQuery(async () => {
        const outcome = await removeNode(name);
        if (outcome === "unknown") return refuse(unknownNode(name));
        if (outcome === "alone") return refuse(conflict("This server is alone: it has no lost nodes."));
        if (outcome === "present")
          return refuse(conflict(`The node ${name.slice(0, 100)} is not lost: only a lost node can be removed.`));
        return { status: 204, body: "" };
      }),
    ),
  },
});

const unknownNode = (name: string): Refusal => ({
  code: "not_found",
  message: `Unknown node: ${name.slice(0, 100)}. GET /api/v1/nodes lists their names.`,
});
