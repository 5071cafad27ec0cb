import type { Configuration } from "../../configuration/configuration.ts";
import type { RenderOrder } from "../../render/render-order.ts";
import { storeLocationsById } from "../configured-stores.ts";
import { commonVersion } from "./link-version.ts";
import type { NodeHello, Welcome } from "./node-methods.ts";

/** Why a node cannot join, or the version of the messages with it. */
export type Admission = { readonly kind: "admitted"; readonly version: number } | Exclude<Welcome, { kind: "joined" }>;

/** Decides whether a node can join those that have joined. */
export function admit(hello: NodeHello, joined: Iterable<NodeHello>, configuration: Configuration): Admission {
  const version = commonVersion(hello);
  if (typeof version === "string") return { kind: "refused", reason: version };
  const reason = otherStore(hello, configuration);
  if (reason !== undefined) return { kind: "refused", reason };
  if ([...joined].some(({ name }) => name === hello.name))
    return {
      kind: "not_now",
      reason: `another node is called ${JSON.stringify(hello.name)}: cluster.node names each differently`,
    };
  return { kind: "admitted", version };
}

function otherStore({ stores }: NodeHello, configuration: Configuration): string | undefined {
  const own = storeLocationsById(configuration);
  for (const id of new Set([...own.keys(), ...stores.keys()]))
    if (own.get(id) !== stores.get(id))
      return `its store ${JSON.stringify(id)} is at ${stores.get(id) ?? "no place"}, and that of the lead at ${own.get(id) ?? "no place"}: all nodes need the same stores`;
  return undefined;
}

/** Returns the order of a user at a node. */
export const near = (order: RenderOrder, node: string | undefined): RenderOrder =>
  node === undefined ? order : { ...order, near: node };
