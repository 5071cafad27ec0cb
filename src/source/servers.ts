import type { SourceOptions, UpstreamOptions } from "../layer/layer.ts";

export type HttpSourceOptions = Extract<SourceOptions, UpstreamOptions>;

/** The addresses of a source in the order in which they are tried. */
export const addressesOf = ({ url }: Pick<HttpSourceOptions, "url">): readonly string[] =>
  typeof url === "string" ? [url] : url;

/** An address once for each subdomain where it has `{s}`. */
export const withSubdomains = (address: string, subdomains: readonly string[]): readonly string[] =>
  address.includes("{s}") ? subdomains.map((subdomain) => address.replaceAll("{s}", subdomain)) : [address];

/** Every server that a source may ask, the first address's first; there may be more than one of an address. */
export function serversOf(source: HttpSourceOptions): readonly URL[] {
  const subdomains = source.type === "xyz" ? source.subdomains : [];
  return addressesOf(source).flatMap((address) => withSubdomains(address, subdomains).map((one) => new URL(one)));
}
