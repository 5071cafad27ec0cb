import type { Socket } from "node:net";
import type { GrantedLeases } from "../../cluster/lease.ts";
import { type NodeView, servedTiles } from "../../http/api/nodes/node-view.ts";
import type { Channel } from "../../lib/channel.ts";
import { elapsedMs } from "../../lib/elapsed.ts";
import type { RendererHosts, RenderWork } from "../renderer-pool.ts";
import type { CheckedStores } from "./checked-stores.ts";
import type { LeadMethods, NodeHello, NodeMethods } from "./node-methods.ts";
import type { NodeRenderers } from "./node-renderers.ts";

export type NodeChannel = Channel<LeadMethods, NodeMethods>;

/** A node that has joined, as its lead knows it. */
export interface Member {
  readonly hello: NodeHello;
  /** The version of the messages with it. */
  readonly version: number;
  readonly channel: Pick<NodeChannel, "call" | "note">;
  readonly socket: Pick<Socket, "destroy">;
  readonly renderers: NodeRenderers;
  readonly checked: CheckedStores;
  readonly sinceMs: number;
  lastHeardMs: number;
  isDraining: boolean;
  /** Whether the node has received SIGTERM. */
  isLeaving: boolean;
}

/** Returns a node that joins now. */
export const newMember = (
  joining: Pick<Member, "hello" | "version" | "channel" | "socket" | "renderers" | "checked">,
): Member => ({
  ...joining,
  isDraining: joining.hello.isDraining,
  isLeaving: false,
  sinceMs: Date.now(),
  lastHeardMs: elapsedMs(),
});

/** Returns the rows of the nodes, by their names. */
export async function nodeViews(
  members: Iterable<Member>,
  hosts: Pick<RendererHosts, "workOf">,
  leases: Pick<GrantedLeases, "leftMs">,
  isOwn: (hello: NodeHello) => boolean,
): Promise<readonly NodeView[]> {
  const views = [...members].map((member) => {
    const isLead = isOwn(member.hello);
    const leaseMs = leases.leftMs(member.hello.instance);
    return nodeView(member, isLead, { leaseMs, ...hosts.workOf(isLead ? undefined : member.renderers) });
  });
  return (await Promise.all(views)).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns the row of a node in the list. Asks the node how many tiles it has served. */
async function nodeView(
  member: Member,
  lead: boolean,
  known: RenderWork & Pick<NodeView, "leaseMs">,
): Promise<NodeView> {
  const { hello, channel, sinceMs, lastHeardMs, isDraining, isLeaving } = member;
  const metrics = await channel.call("metrics").catch(() => undefined);
  return {
    name: hello.name,
    lead,
    state: metrics === undefined ? "lost" : isDraining || isLeaving ? "draining" : "ready",
    sinceMs,
    lagMs: Math.max(0, Math.round(elapsedMs() - lastHeardMs)),
    tiles: metrics === undefined ? 0 : servedTiles(metrics.tiles),
    version: hello.program,
    ...known,
  };
}
