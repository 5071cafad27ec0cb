import type { Socket } from "node:net";
import type { NodeView } from "../../../http/api/nodes/node-documents.ts";
import { servedTiles } from "../../../http/api/nodes/node-view.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { isoTime } from "../../../lib/time/iso-time.ts";
import type { RendererHosts } from "../../server/renderers/renderer-pool.ts";
import type { GrantedLeases } from "../link/lease.ts";
import type { NodeHello, NodeMethods } from "../link/node-methods.ts";
import type { CheckedStores } from "./checked-stores.ts";
import type { NodeRenderers } from "./node-renderers.ts";

/** A node that has joined, and its state at the lead. */
export interface Member {
  readonly hello: NodeHello;
  readonly methods: NodeMethods;
  readonly socket: Pick<Socket, "destroy">;
  readonly renderers: NodeRenderers;
  readonly checked: CheckedStores;
  readonly sinceMs: number;
  lastHeardMs: number;
  isDraining: boolean;
  /** Whether the node has received SIGTERM. */
  isLeaving: boolean;
}

/** Returns the member of a node that is joining. */
export const newMember = (
  joining: Pick<Member, "hello" | "methods" | "socket" | "renderers" | "checked">,
  clock: Clock,
): Member => ({
  ...joining,
  isDraining: joining.hello.isDraining,
  isLeaving: joining.hello.isLeaving ?? false,
  sinceMs: clock.now(),
  lastHeardMs: clock.monotonicNow(),
});

/** Facts that the row of a node needs in addition to its member. */
export interface ViewParts {
  readonly clock: Clock;
  readonly hosts: Pick<RendererHosts, "workOf">;
  readonly leases: Pick<GrantedLeases, "leftMs">;
  /** Whether the lead runs beside this node. */
  readonly isOwn: (hello: NodeHello) => boolean;
}

/** Returns the rows of the nodes, sorted by name. */
export async function nodeViews(members: Iterable<Member>, parts: ViewParts): Promise<readonly NodeView[]> {
  const views = [...members].map((member) => nodeView(member, parts));
  return (await Promise.all(views)).sort(byName);
}

export const byName = (a: NodeView, b: NodeView): number => (a.name < b.name ? -1 : 1);

/** Returns the row of a node in the list. Requests the number of tiles that the node has served. */
export async function nodeView(member: Member, { clock, hosts, leases, isOwn }: ViewParts): Promise<NodeView> {
  const { hello, methods, renderers, sinceMs, lastHeardMs, isDraining, isLeaving } = member;
  const lead = isOwn(hello);
  const lease = leases.leftMs(hello.instance);
  const work = hosts.workOf(lead ? undefined : renderers);
  // The row of a node that does not answer says so.
  const metrics = await methods.metrics().catch(() => undefined);
  return {
    name: hello.name,
    lead,
    state: metrics === undefined ? "lost" : isDraining || isLeaving ? "draining" : "ready",
    since: isoTime(sinceMs),
    lag: Math.max(0, Math.round(clock.monotonicNow() - lastHeardMs)),
    lease: lease === null ? null : Math.round(lease),
    version: hello.program,
    work: { ...work, tiles: metrics === undefined ? 0 : servedTiles(metrics.tiles) },
  };
}
