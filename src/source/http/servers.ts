import type { SourceOptions, UpstreamOptions } from "../../layer/layer.ts";

export type HttpSourceOptions = Extract<SourceOptions, UpstreamOptions>;

/** The addresses of a source in the order in which they are tried. */
export const addressesOf = ({ url }: Pick<HttpSourceOptions, "url">): readonly string[] =>
  typeof url === "string" ? [url] : url;

/** An address once for each subdomain where it has `{s}`. */
export const withSubdomains = (address: string, subdomains: readonly string[]): readonly string[] =>
  address.includes("{s}") ? subdomains.map((subdomain) => address.replaceAll("{s}", subdomain)) : [address];

/** The server of an address, the first of several. */
export const originOf = (source: HttpSourceOptions, address: string): string =>
  new URL(withSubdomains(address, subdomainsOf(source))[0] ?? address).origin;

const subdomainsOf = (source: HttpSourceOptions): readonly string[] => (source.type === "xyz" ? source.subdomains : []);

/** Every server that a source may ask, the first address's first; there may be more than one of an address. */
export function serversOf(source: HttpSourceOptions): readonly URL[] {
  const subdomains = subdomainsOf(source);
  return addressesOf(source).flatMap((address) => withSubdomains(address, subdomains).map((one) => new URL(one)));
}
