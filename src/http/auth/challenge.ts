import type { IncomingHttpHeaders } from "node:http";

/**
 * Headers of a 401. A script of a page gets no challenge, or the browser would open its own dialogue over the page's:
 * only a navigation, and a client that is no browser, is asked for Basic.
 */
export function challengeOf(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const mode = headers["sec-fetch-mode"];
  return mode === undefined || mode === "navigate" ? { "WWW-Authenticate": 'Basic realm="Nuthatch"' } : {};
}
