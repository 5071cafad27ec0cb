import type { ConnectionOptions, UpstreamOptions } from "../../layer/layer.ts";
import { addressesOf, withSubdomains } from "../../source/http/servers.ts";
import { buildTls } from "./build-tls.ts";
import type { Path, Problems } from "./problems.ts";
import { hasControlCharacter } from "./schema/server-schema.ts";
import type { UpstreamDocument } from "./schema/source-schema.ts";

/** Returns the limits of concurrent connections of a source. */
export function buildConnections(
  { connections, jobConnections }: ConnectionOptions,
  path: Path,
  problems: Problems,
): ConnectionOptions {
  if (jobConnections === undefined) return { connections };
  if (jobConnections > connections)
    problems.expected([...path, "jobConnections"], `at most connections (${connections})`, jobConnections);
  return { connections, jobConnections };
}

/**
 * Builds the options that all sources over HTTP share, defaults filled in. `checkAddresses` checks the addresses.
 * @param protocolParameters parameters that Nuthatch sets itself, which the operator must not configure
 */
export function buildUpstream(
  document: UpstreamDocument,
  protocolParameters: readonly string[],
  path: Path,
  problems: Problems,
): UpstreamOptions {
  const { url, username, password, allowPrivateRedirects, proxy } = document;
  if (password !== undefined && (username ?? "") === "")
    problems.add(path, "password is given, but username is missing");
  if (username?.includes(":")) problems.add([...path, "username"], "expected a name without a colon");
  const vendorParameters: Record<string, string> = {};
  for (const [key, value] of Object.entries(document.vendorParameters)) {
    const at = [...path, "vendorParameters", key];
    if (protocolParameters.includes(key.toUpperCase()))
      problems.add(at, "is set by the source itself; see the other keys of the source", "key");
    if (key === "" || hasControlCharacter(key)) problems.add(at, "expected the name of a parameter", "key");
    vendorParameters[key] = String(value);
  }
  checkProxy(proxy, [...path, "proxy"], problems);
  const tls = buildTls(document, path, problems);
  if (tls !== undefined && !addressesOf({ url }).some((address) => /^https:/i.test(address)))
    problems.add(path, "ca, cert and key are for addresses with https://");
  return {
    url,
    timeoutMs: Math.max(1, Math.round(document.timeoutSeconds * 1000)),
    ...buildConnections(document, path, problems),
    vendorParameters,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(allowPrivateRedirects === undefined ? {} : { allowPrivateRedirects }),
    ...(proxy === undefined ? {} : { proxy }),
    ...(tls === undefined ? {} : { tls }),
  };
}

function checkProxy(proxy: string | undefined, path: Path, problems: Problems): void {
  if (proxy === undefined || proxy === "none") return;
  if (!URL.canParse(proxy) || !/^https?:$/.test(new URL(proxy).protocol))
    problems.expected(path, "none, or the address of a proxy with http:// or https://", proxy);
}

/**
 * Checks each address of a source. `expected` returns what the kind of source misses in an address; undefined if
 * nothing. `subdomains` are the values of `{s}`.
 */
export function checkAddresses(
  url: string | readonly string[],
  path: Path,
  problems: Problems,
  kind: { readonly expected: (address: string) => string | undefined; readonly subdomains: readonly string[] },
): void {
  const addresses = addressesOf({ url });
  for (const [i, address] of addresses.entries()) {
    const at = typeof url === "string" ? path : [...path, i];
    const lacking = /^https?:\/\//i.test(address) ? kind.expected(address) : undefined;
    const servers = withSubdomains(address, kind.subdomains).map((one) =>
      URL.canParse(one) ? new URL(one) : undefined,
    );
    if (lacking !== undefined) problems.expected(at, lacking, address);
    else if (servers.some((server) => server === undefined || !["http:", "https:"].includes(server.protocol)))
      problems.expected(at, "an address with http:// or https://", address);
    // The servers must be known at start: credentials are sent to them, and messages must not name them.
    else if (servers.some((server) => server?.host.includes("{")))
      problems.expected(at, "no placeholder in the host but {s} of a source of type xyz", address);
    // Logs and pages show the address.
    else if (servers.some((server) => server?.username !== "" || server.password !== ""))
      problems.add(at, "expected no credentials in the address; source.username and source.password are for them");
    else if (addresses.indexOf(address) < i) problems.add(at, "the same address is given twice");
  }
}
