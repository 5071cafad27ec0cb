import { ownVersion } from "../../lib/version.ts";

/**
 * The version of the messages between nodes. It rises when a method of `NodeMethods` or `LeadMethods`, or one of its
 * parameters, changes so that the program before would misread a message.
 * 3: grid subsets have no `coverage`, see `forVersion2`, and `drainNode` returns the row of the node.
 */
export const LINK_VERSION = 3;

/** The oldest version that this program uses: that of the program before it. */
const OLDEST = LINK_VERSION - 1;

/** The versions of the messages that a program knows. A node sends them when it joins. */
export interface KnownVersions {
  /** The newest. */
  readonly version: number;
  /** The oldest. */
  readonly oldest: number;
  /** The version of the program. */
  readonly program: string;
}

export const ownVersions = (): KnownVersions => ({ version: LINK_VERSION, oldest: OLDEST, program: ownVersion() });

/** Returns the newest version that both know; a text: why there is none. */
export function commonVersion(node: KnownVersions, lead = ownVersions()): number | string {
  const common = Math.min(node.version, lead.version);
  if (common >= Math.max(node.oldest, lead.oldest)) return common;
  return `its messages have version ${versionText(node)}, and those of the lead version ${versionText(lead)}: only neighbours work together`;
}

const versionText = ({ version, program }: KnownVersions): string => `${version} (Nuthatch ${program})`;
