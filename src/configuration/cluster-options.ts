/** How a server works with others on one database, as one of the nodes of a cluster. */
export interface ClusterOptions {
  /** The name of this node, which no other node has. */
  readonly node: string;
  /** Where this node accepts the other nodes while it leads. Port 0: a free one. */
  readonly listen: HostPort;
  /** The address under which the other nodes reach this one; undefined: that of `listen`. */
  readonly advertise: HostPort | undefined;
  /** Authenticates and encrypts the connections between the nodes. Undefined: plain connections on loopback. */
  readonly secret: string | undefined;
  /**
   * What a node does that reaches no lead: refuse requests, or serve the tiles that it has and reads, which may be
   * outdated.
   */
  readonly cutOff: "refuse" | "serve";
  /** A node that has not heard from the lead for this time is cut off. */
  readonly nodeLeaseMs: number;
  /** Another node takes the lead when the one that leads has not renewed its lease for this time. */
  readonly leadLeaseMs: number;
}

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** Returns an address as it is written, with brackets around an IPv6 address. */
export const hostPortText = ({ host, port }: HostPort): string => `${host.includes(":") ? `[${host}]` : host}:${port}`;

/** Parses `host:port`; undefined: the text is something else. */
export function parseHostPort(value: string): HostPort | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([0-9A-Fa-f:.]+)\]|([\w.-]+)):(\d{1,5})$/.exec(value) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  return host === undefined || port > 65_535 ? undefined : { host, port };
}
