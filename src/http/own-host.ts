import { isIPv4 } from "node:net";
import type { ServerOptions } from "./options.ts";

/**
 * Whether a Host header names this server: a loopback name, the host that it listens on, or that of an allowed origin. A
 * web page can have its own name resolved to 127.0.0.1, and then the browser takes this server for the page's own site,
 * but it still sends the page's name. Undefined, which only HTTP/1.0 allows, is no browser.
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
