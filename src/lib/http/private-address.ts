import { type LookupOptions, lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

/** The address belongs to a private network or to this machine, but only public addresses are allowed. */
export class PrivateAddress extends Error {
  readonly code = "EPRIVATE";

  constructor() {
    super("the address is of a private network or of this machine");
  }
}

/**
 * Addresses outside of the public internet: the special-purpose registries of IANA (RFC 6890), multicast, and the
 * prefixes of IPv6 that embed an IPv4 address (RFC 6052, RFC 3056), because that address may be private.
 */
const NOT_PUBLIC = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const)
  NOT_PUBLIC.addSubnet(network, prefix, "ipv4");
for (const [network, prefix] of [
  // This network includes ::1 and the deprecated IPv4-compatible addresses.
  ["::", 96],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["100::", 64],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["fc00::", 7],
  ["fe80::", 9],
  ["ff00::", 8],
] as const)
  NOT_PUBLIC.addSubnet(network, prefix, "ipv6");

/**
 * Returns whether an IP address lies outside of the public internet. An IPv4 address in IPv6 (`::ffff:0:0/96`) counts
 * as the IPv4 address.
 */
export const isPrivateAddress = (address: string): boolean =>
  NOT_PUBLIC.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");

/**
 * Refuses a host that is written as an IP address outside of the public internet. Names are checked by `lookupPublic`.
 * @throws PrivateAddress
 */
export function checkPublicHost(host: string): void {
  if (isIP(host) !== 0 && isPrivateAddress(host)) throw new PrivateAddress();
}

/**
 * Resolves a name for a socket. The socket connects to the addresses checked here, so DNS rebinding (a name that
 * resolves to another address the next time) has no effect. A name with a private address among its addresses is
 * refused.
 */
export const lookupPublic: LookupFunction = (hostname, options, callback) => {
  const all: LookupOptions & { readonly all: true } = { ...options, all: true };
  lookup(hostname, all, (error, found) => {
    const [first] = found ?? [];
    if (error !== null) callback(error, "");
    else if (found.some(({ address }) => isPrivateAddress(address))) callback(new PrivateAddress(), "");
    else if (options.all === true || first === undefined) callback(null, found);
    else callback(null, first.address, first.family);
  });
};
