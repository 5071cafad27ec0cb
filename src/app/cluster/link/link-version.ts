import { ownVersion } from "../../../lib/process/version.ts";

/**
 * The version of the messages between nodes. It rises when a method of `NodeMethods` or `LeadMethods`, or one of its
 * parameters, changes so that another program would misread a message. All nodes of a cluster need the same one.
 */
export const LINK_VERSION = 4;

/** What a program sends of itself when its node joins. */
export interface LinkVersion {
  /** The version of its messages. */
  readonly version: number;
  /** The version of the program. */
  readonly program: string;
}

export const ownLinkVersion = (): LinkVersion => ({ version: LINK_VERSION, program: ownVersion() });

/** Returns why a node cannot join, and what to update; undefined: its messages have the version of the lead's. */
export function otherVersion(node: LinkVersion, lead = ownLinkVersion()): string | undefined {
  if (node.version === lead.version) return undefined;
  const remedy =
    node.version < lead.version
      ? `install Nuthatch ${lead.program} for this node`
      : `stop the other nodes, and install Nuthatch ${node.program} for them`;
  return `its messages have version ${versionText(node)}, and those of the lead version ${versionText(lead)}, but all nodes of a cluster need the same: ${remedy}`;
}

const versionText = ({ version, program }: LinkVersion): string => `${version} (Nuthatch ${program})`;
