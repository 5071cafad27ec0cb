import type { SourceOptions, UpstreamOptions } from "../../layer/source-options.ts";

export type HttpSourceOptions = Extract<SourceOptions, UpstreamOptions>;

/** Returns the addresses of a source in the order in which they are tried. */
export const addressesOf = ({ url }: Pick<HttpSourceOptions, "url">): readonly string[] =>
  typeof url === "string" ? [url] : url;

/** Returns an address once for each subdomain if it contains `{s}`. */
export const withSubdomains = (address: string, subdomains: readonly string[]): readonly string[] =>
  address.includes("{s}") ? subdomains.map((subdomain) => address.replaceAll("{s}", subdomain)) : [address];

/** Returns the origin of an address, with the first subdomain. */
export const originOf = (source: HttpSourceOptions, address: string): string =>
  new URL(withSubdomains(address, subdomainsOf(source))[0] ?? address).origin;

const subdomainsOf = (source: HttpSourceOptions): readonly string[] => (source.type === "xyz" ? source.subdomains : []);

/** Returns every server of a source. The servers of the first address come first. Each subdomain counts as a server. */
export function serversOf(source: HttpSourceOptions): readonly URL[] {
  const subdomains = subdomainsOf(source);
  return addressesOf(source).flatMap((address) => withSubdomains(address, subdomains).map((one) => new URL(one)));
}
