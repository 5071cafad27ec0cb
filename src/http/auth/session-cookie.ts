export const SESSION_COOKIE = "nuthatch_session";

/** Returns the session's token in a Cookie header (RFC 6265, 4.2.1). Undefined if the header has no such cookie. */
export function sessionTokenOf(cookie: string | undefined): string | undefined {
  for (const pair of (cookie ?? "").split(";")) {
    const [name, value] = pair.trim().split("=", 2);
    if (name === SESSION_COOKIE && value !== undefined && /^[\w-]{43}$/.test(value)) return value;
  }
  return undefined;
}

/**
 * Returns the Set-Cookie header of a session. The browser sends the cookie only to this server and from pages of this
 * server, and hides it from scripts.
 * @param base scheme, host and mount, as the client addressed them
 * @param token undefined makes the browser delete the cookie
 */
export function sessionCookie(base: string, token: string | undefined): string {
  const { protocol, pathname } = new URL(base);
  const parts = [`${SESSION_COOKIE}=${token ?? ""}`, `Path=${pathname}`, "HttpOnly", "SameSite=Strict"];
  if (protocol === "https:") parts.push("Secure");
  if (token === undefined) parts.push("Max-Age=0");
  return parts.join("; ");
}
