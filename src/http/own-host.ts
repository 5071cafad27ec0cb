import { isIPv4 } from "node:net";
import type { ServerOptions } from "../configuration/fields/server-schema.ts";

/**
 * Returns whether a Host header names this server: a loopback name, the host that the server listens on, or the host of
 * an allowed origin. This prevents DNS rebinding: a page whose name resolves to 127.0.0.1 has the same origin as this
 * server, but the browser sends the page's name as Host. A request without Host is not from a browser: only HTTP/1.0
 * permits it.
 */
export function isOwnHost(
  host: string | undefined,
  { host: listening, allowedOrigins }: Pick<ServerOptions, "host" | "allowedOrigins">,
): boolean {
  if (host === undefined) return true;
  const name = /^(\[[\da-f:.]+\]|[\w.-]+)(?::\d*)?$/i.exec(host)?.[1]?.toLowerCase().replace(/\.$/, "");
  if (name === undefined) return false;
  if (name === "localhost" || name === "[::1]") return true;
  if (isIPv4(name) && name.startsWith("127.")) return true;
  const own = listening.toLowerCase();
  return name === own || name === `[${own}]` || allowedOrigins.some((origin) => hostOf(origin) === name);
}

const hostOf = (origin: string): string | undefined => (URL.canParse(origin) ? new URL(origin).hostname : undefined);
