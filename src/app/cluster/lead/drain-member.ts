import type { DrainRefusal } from "../../../http/api/nodes/node-view.ts";
import type { Logger } from "../../../lib/process/logger.ts";
import type { RendererHosts } from "../../server/renderers/renderer-pool.ts";
import type { Member } from "./member.ts";

export interface DrainParts {
  readonly members: ReadonlySet<Member>;
  readonly hosts: Pick<RendererHosts, "add" | "remove">;
  /** Whether the lead runs beside this node. The lead uses the renderers of this node as its own. */
  readonly isOwn: (hello: Member["hello"]) => boolean;
  /**
   * Resolves to true when a node has joined, or the leases of all absent nodes have ended. False if no node is absent.
   */
  readonly anotherJoins: () => Promise<boolean>;
  readonly log: Logger;
}

type Refused = Exclude<DrainRefusal, "alone">;

/**
 * Begins or ends the drain of a node. A drained node gets no further renders, its `/readyz` is 503, and it hands over
 * the lead if it has it. Returns the node after it has applied the drain.
 *
 * A node may be absent for a moment, mainly after another node has taken the lead. So `unknown` and `last` are returned
 * only if no node is absent: an absent node may be the named one, or another node that is not drained.
 * @throws Error with the code `unavailable` if the connection to the node is lost: the node may be drained or not
 */
export async function drainMember(parts: DrainParts, name: string, drained: boolean): Promise<Member | Refused> {
  let found = memberToChange(parts.members, name, drained);
  while ((found === "unknown" || found === "last") && (await parts.anotherJoins()))
    found = memberToChange(parts.members, name, drained);
  if (typeof found === "string") return found;
  if (!found.isLeaving) await change(found, drained, parts);
  return found;
}

function memberToChange(members: ReadonlySet<Member>, name: string, drained: boolean): Member | Refused {
  const member = [...members].find(({ hello }) => hello.name === name);
  if (member === undefined) return "unknown";
  // The node has received SIGTERM, and will end.
  if (member.isLeaving) return drained ? member : "leaving";
  const isOnly = [...members].every((one) => one === member || one.isDraining || one.isLeaving);
  return drained && !member.isDraining && isOnly ? "last" : member;
}

async function change(member: Member, drained: boolean, { hosts, isOwn, log }: DrainParts): Promise<void> {
  const { renderers, methods, hello } = member;
  if (member.isDraining !== drained) {
    member.isDraining = drained;
    if (drained) void hosts.remove(renderers);
    else if (!isOwn(hello) && hello.renderers > 0) hosts.add(renderers);
    log.info(drained ? "a node is drained" : "a node is no longer drained", { node: hello.name });
  }
  // Sent even without a change, because the node may not have applied an earlier equal request yet.
  await methods.drain(drained);
}
