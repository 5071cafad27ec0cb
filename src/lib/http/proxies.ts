/** The proxies that the environment names, as curl does: names in lower case come first. */
export interface Proxies {
  /** The proxy for servers without TLS. */
  readonly http: string | undefined;
  /** The proxy for servers with TLS. Undefined: `http` serves them too. */
  readonly https: string | undefined;
}

/** Returns the addresses in HTTP_PROXY and HTTPS_PROXY. NO_PROXY is undici's to read. */
export const proxiesOfEnvironment = ({ env } = process): Proxies => ({
  http: proxyAddress(env["http_proxy"] || env["HTTP_PROXY"]),
  https: proxyAddress(env["https_proxy"] || env["HTTPS_PROXY"]),
});

/** Returns the address of a proxy. A proxy without a scheme speaks HTTP. */
const proxyAddress = (written: string | undefined): string | undefined =>
  written === undefined || written === "" || written.includes("://") ? written || undefined : `http://${written}`;
