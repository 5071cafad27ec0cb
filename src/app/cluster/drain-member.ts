import type { DrainOutcome } from "../../http/api/nodes/node-view.ts";
import type { Logger } from "../../lib/logger.ts";
import type { RendererHosts } from "../renderer-pool.ts";
import type { Member } from "./member.ts";

export interface DrainParts {
  readonly members: ReadonlySet<Member>;
  readonly hosts: Pick<RendererHosts, "add" | "remove">;
  /** Whether a node is the one beside the lead, whose renderers are the lead's own. */
  readonly isOwn: (hello: Member["hello"]) => boolean;
  readonly log: Logger;
}

/**
 * Begins or ends the drain of a node. A drained node gets no further renders, its `/readyz` is 503, and it hands the lead
 * over if it has it.
 */
export function drainMember(parts: DrainParts, name: string, drained: boolean): DrainOutcome {
  const { members, hosts, isOwn, log } = parts;
  const member = [...members].find(({ hello }) => hello.name === name);
  if (member === undefined) return "unknown";
  // The node has received SIGTERM, and ends in any case.
  if (member.isLeaving) return drained ? "done" : "leaving";
  if (member.isDraining === drained) return "done";
  if (drained && [...members].every((one) => one === member || one.isDraining || one.isLeaving)) return "last";
  const { renderers, channel, hello } = member;
  member.isDraining = drained;
  if (drained) void hosts.remove(renderers);
  else if (!isOwn(hello) && hello.renderers > 0) hosts.add(renderers);
  channel.note("drain", [drained]);
  log.info(drained ? "a node is drained" : "a node is not drained any more", { node: name });
  return "done";
}
