/** The options of one node of a cluster, whose servers work on one database. */
export interface ClusterOptions {
  /** The name of this node, unique in the cluster. */
  readonly node: string;
  /** The address at which this node accepts the other nodes while it leads. Port 0 means a free port. */
  readonly listen: HostPort;
  /** The address at which the other nodes reach this node. Undefined for the address of `listen`. */
  readonly advertise: HostPort | undefined;
  /** Authenticates and encrypts the connections between the nodes. Undefined for plain connections on loopback. */
  readonly secret: string | undefined;
  /**
   * The behaviour of a node that cannot reach the lead: refuse requests, or serve the tiles that it has in memory and
   * reads from the store, which may be outdated.
   */
  readonly cutOff: "refuse" | "serve";
  /** A node is cut off if it has received nothing from the lead for this time. */
  readonly nodeLeaseMs: number;
  /** Another node takes the lead if the lead has not renewed its lease for this time. */
  readonly leadLeaseMs: number;
}

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** Returns an address as it is written, with brackets around an IPv6 address. */
export const hostPortText = ({ host, port }: HostPort): string => `${host.includes(":") ? `[${host}]` : host}:${port}`;

/** Parses `host:port`. Returns undefined for any other text. */
export function parseHostPort(value: string): HostPort | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([0-9A-Fa-f:.]+)\]|([\w.-]+)):(\d{1,5})$/.exec(value) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  return host === undefined || port > 65_535 ? undefined : { host, port };
}
