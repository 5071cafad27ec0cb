import { ownVersion } from "../../../lib/process/version.ts";

/**
 * The version of the messages between nodes. Raise it if a method of `NodeMethods` or `LeadMethods`, or one of its
 * parameters, changes so that another program would misread a message, and with `SCHEMA_VERSION`. All nodes of a
 * cluster need the same version.
 */
export const LINK_VERSION = 8;

/** The versions that a node sends when it joins. */
export interface LinkVersion {
  /** The version of its messages. */
  readonly version: number;
  /** The version of the program. */
  readonly program: string;
}

export const ownLinkVersion = (): LinkVersion => ({ version: LINK_VERSION, program: ownVersion() });

/** Returns why a node cannot join, and which program to update. Undefined if both have one version of the messages. */
export function otherVersion(node: LinkVersion, lead = ownLinkVersion()): string | undefined {
  if (node.version === lead.version) return undefined;
  const remedy =
    node.version < lead.version
      ? `install Nuthatch ${lead.program} for this node`
      : `stop the other nodes, and install Nuthatch ${node.program} for them`;
  return `its messages have version ${versionText(node)}, and those of the lead version ${versionText(lead)}, but all nodes of a cluster need the same: ${remedy}`;
}

const versionText = ({ version, program }: LinkVersion): string => `${version} (Nuthatch ${program})`;
