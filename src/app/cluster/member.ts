import type { Socket } from "node:net";
import { type NodeView, servedTiles } from "../../http/api/nodes/node-view.ts";
import type { Channel } from "../../lib/channel.ts";
import { elapsedMs } from "../../lib/elapsed.ts";
import type { RenderWork } from "../renderer-pool.ts";
import type { LeadMethods, NodeHello, NodeMethods } from "./node-methods.ts";
import type { NodeRenderers } from "./node-renderers.ts";

export type NodeChannel = Channel<LeadMethods, NodeMethods>;

/** A node that has joined, as its lead knows it. */
export interface Member {
  readonly hello: NodeHello;
  readonly channel: NodeChannel;
  readonly socket: Socket;
  readonly renderers: NodeRenderers;
  readonly sinceMs: number;
  lastHeardMs: number;
  isDraining: boolean;
}

/** Returns the row of a node in the list. Asks the node how many tiles it has served. */
export async function nodeView(
  member: Member,
  lead: boolean,
  known: RenderWork & Pick<NodeView, "leaseMs">,
): Promise<NodeView> {
  const { hello, channel, sinceMs, lastHeardMs, isDraining } = member;
  const metrics = await channel.call("metrics").catch(() => undefined);
  return {
    name: hello.name,
    lead,
    state: metrics === undefined ? "lost" : isDraining ? "draining" : "ready",
    sinceMs,
    lagMs: Math.max(0, Math.round(elapsedMs() - lastHeardMs)),
    tiles: metrics === undefined ? 0 : servedTiles(metrics.tiles),
    version: hello.program ?? null,
    ...known,
  };
}
