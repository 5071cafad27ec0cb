import type { UpstreamOptions } from "../../layer/layer.ts";
import { hasControlCharacter } from "./build-grid-sets.ts";
import type { Path, Problems } from "./problems.ts";
import type { UpstreamDocument } from "./schema.ts";

export const DEFAULT_CONNECTIONS = 8;
const DEFAULT_TIMEOUT_SECONDS = 30;

/**
 * What every source over HTTP has, defaults filled in. Its addresses are `checkAddresses`'s.
 * `protocolParameters`: what Nuthatch itself asks for, not the operator's to set.
 */
export function buildUpstream(
  document: UpstreamDocument,
  protocolParameters: readonly string[],
  path: Path,
  problems: Problems,
): UpstreamOptions {
  const { url, username, password } = document;
  if (password !== undefined && (username ?? "") === "")
    problems.add(path, "password is given, but username is missing");
  if (username?.includes(":")) problems.add([...path, "username"], "expected a name without a colon");
  const vendorParameters: Record<string, string> = {};
  for (const [key, value] of Object.entries(document.vendorParameters ?? {})) {
    const at = [...path, "vendorParameters", key];
    if (protocolParameters.includes(key.toUpperCase()))
      problems.add(at, "is set by the source itself; see the other keys of the source", "key");
    if (key === "" || hasControlCharacter(key)) problems.add(at, "expected the name of a parameter", "key");
    vendorParameters[key] = String(value);
  }
  return {
    url,
    timeoutMs: Math.max(1, Math.round((document.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000)),
    connections: document.connections ?? DEFAULT_CONNECTIONS,
    vendorParameters,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
  };
}

/** `expected` tells what an address lacks; undefined: nothing. */
export function checkAddresses(
  url: string | readonly string[],
  path: Path,
  problems: Problems,
  expected: (address: string) => string | undefined,
): void {
  const addresses = typeof url === "string" ? [url] : url;
  for (const [i, address] of addresses.entries()) {
    const at = typeof url === "string" ? path : [...path, i];
    const parsed = URL.canParse(address) ? new URL(address) : undefined;
    const lacking = expected(address);
    if (parsed === undefined || !["http:", "https:"].includes(parsed.protocol))
      problems.expected(at, "an address with http:// or https://", address);
    // An address is shown in logs and pages.
    else if (parsed.username !== "" || parsed.password !== "")
      problems.add(at, "expected no credentials in the address; source.username and source.password are for them");
    else if (lacking !== undefined) problems.expected(at, lacking, address);
    else if (addresses.indexOf(address) < i) problems.add(at, "the same address is given twice");
  }
}
