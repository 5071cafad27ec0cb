import { isIPv4 } from "node:net";
import { networkOf } from "../auth/throttle.ts";

/**
 * Returns the network of a client: the first 24 bits of an IPv4 address, 48 of an IPv6 address, zeros for the other
 * bits. A text that is no address, such as the obfuscated identifier of a proxy (RFC 7239, 6.3), stays.
 */
export function maskedAddress(address: string): string {
  const network = networkOf(address);
  if (isIPv4(network)) return `${network.split(".", 3).join(".")}.0`;
  return network.endsWith("/64") ? `${network.split(":").slice(0, 3).join(":")}::` : network;
}
