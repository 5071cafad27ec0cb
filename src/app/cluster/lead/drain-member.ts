import type { DrainRefusal } from "../../../http/api/nodes/node-view.ts";
import type { Logger } from "../../../lib/process/logger.ts";
import type { RendererHosts } from "../../server/renderers/renderer-pool.ts";
import type { Member } from "./member.ts";

export interface DrainParts {
  readonly members: ReadonlySet<Member>;
  readonly hosts: Pick<RendererHosts, "add" | "remove">;
  /** Whether a node is the one beside the lead, whose renderers are the lead's own. */
  readonly isOwn: (hello: Member["hello"]) => boolean;
  /** True when a node has joined, or the leases of all absent nodes have ended. False at once if no node is absent. */
  readonly anotherJoins: () => Promise<boolean>;
  readonly log: Logger;
}

type Refused = Exclude<DrainRefusal, "alone">;

/**
 * Begins or ends the drain of a node. A drained node gets no further renders, its `/readyz` is 503, and it hands the lead
 * over if it has it. Returns the node when it has applied that.
 *
 * A node may be absent for a moment, above all after another one has taken the lead. The answers `unknown` and `last` are
 * given only when no node is absent: an absent one may be the node that is named, or another one that is not drained.
 * @throws Error with the code `unavailable` when the connection to the node is lost: the node may be drained or not
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
  // The node has received SIGTERM, and ends in any case.
  if (member.isLeaving) return drained ? member : "leaving";
  const isOnly = [...members].every((one) => one === member || one.isDraining || one.isLeaving);
  return drained && !member.isDraining && isOnly ? "last" : member;
}

async function change(member: Member, drained: boolean, { hosts, isOwn, log }: DrainParts): Promise<void> {
  const { renderers, channel, hello } = member;
  if (member.isDraining !== drained) {
    member.isDraining = drained;
    if (drained) void hosts.remove(renderers);
    else if (!isOwn(hello) && hello.renderers > 0) hosts.add(renderers);
    log.info(drained ? "a node is drained" : "a node is not drained any more", { node: hello.name });
  }
  // Sent even if nothing has changed: an earlier request for the same may not be applied yet.
  await channel.call("drain", drained);
}
