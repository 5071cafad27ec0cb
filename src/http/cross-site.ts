import type { IncomingHttpHeaders } from "node:http";

/**
 * Returns whether a browser sent a request from another site (`docs/reference/wire-format.md`, Authentication). A
 * request with neither `Origin` nor `Sec-Fetch-Site` does not come from a browser.
 * @param own scheme, host and port of this server, as the client addressed it
 */
export function isCrossSite(headers: IncomingHttpHeaders, own: string, allowed: readonly string[]): boolean {
  const { origin } = headers;
  if (origin !== undefined && allowed.some((one) => sameOrigin(one, origin))) return false;
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none") return true;
  return origin !== undefined && !sameOrigin(origin, own);
}

/** Compares two origins. Case and default ports do not matter. The opaque origin `null` equals no origin. */
function sameOrigin(a: string, b: string): boolean {
  if (!URL.canParse(a) || !URL.canParse(b)) return false;
  const one = new URL(a).origin;
  return one !== "null" && one === new URL(b).origin;
}
