import type { IncomingHttpHeaders } from "node:http";
import type { ServerOptions } from "../configuration/fields/server-schema.ts";
import { type Refusal, shown } from "../lib/refusal.ts";

type CrossSiteOptions = Pick<ServerOptions, "allowedOrigins" | "trustProxy">;

/**
 * Returns the refusal of a request that a browser sent from another site (`docs/reference/wire-format.md`,
 * Authentication). Undefined if the request is from this site or from an allowed origin. A request with neither
 * `Origin` nor `Sec-Fetch-Site` is not from a browser.
 * @param own scheme, host and port of this server, as the client addressed it
 */
export function crossSiteRefusal(
  { origin, "sec-fetch-site": site }: IncomingHttpHeaders,
  own: string,
  server: CrossSiteOptions,
): Refusal | undefined {
  if (origin !== undefined && server.allowedOrigins.some((one) => sameOrigin(one, origin))) return undefined;
  if (origin !== undefined && !sameOrigin(origin, own)) return refusalOf("Origin", shown(own), shown(origin), server);
  if (site === undefined || site === "same-origin" || site === "none") return undefined;
  const from = origin === undefined ? "" : ` and Origin ${shown(origin)}`;
  return refusalOf("Sec-Fetch-Site", "same-origin or none", `${shown(site)}${from}`, server);
}

/** Returns a refusal with the compared values, and with the configuration keys that would permit the request. */
function refusalOf(header: string, expected: string, got: string, { trustProxy }: CrossSiteOptions): Refusal {
  const proxy =
    trustProxy === false
      ? "behind a proxy set server.trustProxy"
      : "server.trustProxy needs X-Forwarded-Proto and X-Forwarded-Host of the proxy";
  const message = `Requests from another site's page may not change anything here. ${header}: expected ${expected}, got ${got}; ${proxy}, or add the page's origin to server.allowedOrigins.`;
  return { code: "forbidden", message };
}

/**
 * Returns whether two origins are equal. Case and default ports do not matter. The opaque origin `null` equals no
 * origin.
 */
function sameOrigin(a: string, b: string): boolean {
  if (!URL.canParse(a) || !URL.canParse(b)) return false;
  const one = new URL(a).origin;
  return one !== "null" && one === new URL(b).origin;
}
