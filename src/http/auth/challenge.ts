import type { IncomingHttpHeaders } from "node:http";

/**
 * Returns the headers of a 401. Only a navigation, and a client other than a browser, get a challenge for Basic. For a
 * script of a page the browser would open its own dialogue over the page.
 */
export function challengeOf(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const mode = headers["sec-fetch-mode"];
  return mode === undefined || mode === "navigate" ? { "WWW-Authenticate": 'Basic realm="Nuthatch"' } : {};
}
