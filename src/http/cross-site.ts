import type { IncomingHttpHeaders } from "node:http";

/**
 * Whether a browser sent this from another site (`docs/reference/wire-format.md`, Authentication). Neither header: not a browser.
 * @param own the scheme, host and port that the client asked
 */
export function isCrossSite(headers: IncomingHttpHeaders, own: string, allowed: readonly string[]): boolean {
  const { origin } = headers;
  if (origin !== undefined && allowed.some((one) => sameOrigin(one, origin))) return false;
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none") return true;
  return origin !== undefined && !sameOrigin(origin, own);
}

/** Case and default ports do not matter; `null` is nobody's own. */
function sameOrigin(a: string, b: string): boolean {
  if (!URL.canParse(a) || !URL.canParse(b)) return false;
  const one = new URL(a).origin;
  return one !== "null" && one === new URL(b).origin;
}
