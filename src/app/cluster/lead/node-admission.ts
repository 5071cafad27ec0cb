import type { Configuration } from "../../../configuration/configuration.ts";
import { storeLocationsById } from "../../../configuration/store-locations.ts";
import type { RenderOrder } from "../../../render/render-order.ts";
import { otherVersion } from "../link/link-version.ts";
import type { NodeHello, Welcome } from "../link/node-methods.ts";

/** Why a node cannot join. */
export type NotAdmitted = Exclude<Welcome, { kind: "joined" }>;

/** Returns why a node cannot join the nodes that have joined. Undefined if it can. */
export function whyNotAdmitted(
  hello: NodeHello,
  joined: Iterable<NodeHello>,
  configuration: Configuration,
): NotAdmitted | undefined {
  const reason = otherVersion(hello) ?? otherStore(hello, configuration);
  if (reason !== undefined) return { kind: "refused", reason };
  if ([...joined].some(({ name }) => name === hello.name))
    return {
      kind: "not_now",
      reason: `another node has the name ${JSON.stringify(hello.name)}: cluster.node must be different on each node`,
    };
  return undefined;
}

function otherStore({ stores }: NodeHello, configuration: Configuration): string | undefined {
  const own = storeLocationsById(configuration);
  for (const id of new Set([...own.keys(), ...stores.keys()]))
    if (own.get(id) !== stores.get(id))
      return `its store ${JSON.stringify(id)} is at ${stores.get(id) ?? "no place"}, and that of the lead at ${own.get(id) ?? "no place"}: all nodes need the same stores`;
  return undefined;
}

/** Returns the render order of a user, with the node at which the user waits. */
export const near = (order: RenderOrder, node: string | undefined): RenderOrder =>
  node === undefined ? order : { ...order, near: node };
