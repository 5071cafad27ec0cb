import { isoTime } from "../../../lib/iso-time.ts";
import type { Resource, RouteOptions } from "../../resource.ts";
import { documentAnswer, reader } from "../api-answer.ts";
import type { Documents } from "../documents/documents.ts";
import type { NodeView } from "./node-view.ts";

/** `nodes`: the nodes of the cluster; a server that is alone is one. */
export const nodesResource = ({ nodes }: RouteOptions): Resource =>
  reader(async () => documentAnswer("Nodes", { nodes: (await nodes()).map(nodeDocument) }));

const nodeDocument = ({ name, lead, state, sinceMs, lagMs, tiles }: NodeView): Documents["Nodes"]["nodes"][number] => ({
  name,
  lead,
  state,
  since: isoTime(sinceMs),
  lag: lagMs,
  work: { tiles },
});
