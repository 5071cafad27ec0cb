import querystring from "node:querystring";

/** The proxies that the environment names, as curl does: names in lower case come first. */
export interface Proxies {
  /** The proxy for servers without TLS. Undefined: such servers are reached without a proxy. */
  readonly http: string | undefined;
  /** The proxy for servers with TLS. Undefined means that `http` serves them too. */
  readonly https: string | undefined;
}

/** Returns the addresses in HTTP_PROXY and HTTPS_PROXY. undici reads NO_PROXY. */
export const proxiesOfEnvironment = ({ env } = process): Proxies => ({
  http: proxyAddress(env["http_proxy"] || env["HTTP_PROXY"]),
  https: proxyAddress(env["https_proxy"] || env["HTTPS_PROXY"]),
});

/** Returns the address of a proxy. A proxy without a scheme speaks HTTP. Undefined if the text is absent or empty. */
const proxyAddress = (written: string | undefined): string | undefined =>
  written === undefined || written === ""
    ? undefined
    : withReadableUser(written.includes("://") ? written : `http://${written}`);

/**
 * Returns the address of a proxy with its user and password escaped again, so that a `%` that escapes nothing stands
 * for itself. undici throws at such a `%`.
 */
export function withReadableUser(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !`${url.username}${url.password}`.includes("%")) return address;
  url.username = encodeURIComponent(querystring.unescape(url.username));
  url.password = encodeURIComponent(querystring.unescape(url.password));
  return url.href;
}
