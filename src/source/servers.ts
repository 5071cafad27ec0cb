import type { SourceOptions } from "../layer/layer.ts";

export type HttpSourceOptions = Exclude<SourceOptions, { readonly type: "demo" }>;

/** The addresses of a source in the order in which they are tried. */
export const addressesOf = ({ url }: Pick<HttpSourceOptions, "url">): readonly string[] =>
  typeof url === "string" ? [url] : url;

/** Every server that a source may ask, the first address's first; there may be more than one of an address. */
export function serversOf(source: HttpSourceOptions): readonly URL[] {
  return addressesOf(source).map((address) => new URL(address));
}
