import type { IncomingMessage } from "node:http";
import { type Refusal, shown } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import type { ServerOptions } from "../options.ts";
import { isOwnHost } from "../own-host.ts";
import { clientAddress } from "../request.ts";
import type { Authenticator } from "./credentials.ts";
import { type Caller, CREDENTIALS_NEEDED } from "./rights.ts";

/**
 * Returns the caller of a request. Refuses wrong or missing credentials, and, on a server without users, a Host that is
 * not this server's.
 * @param needsAccount false: the path belongs to nobody's resource, so its 404 needs no credentials
 */
export async function callerOf(
  request: IncomingMessage,
  needsAccount: boolean,
  { authenticator, server }: { readonly authenticator: Authenticator; readonly server: ServerOptions },
  gone: AbortSignal,
): Promise<Result<Caller, Refusal>> {
  if (!authenticator.usersConfigured()) {
    const { host } = request.headers;
    if (isOwnHost(host, server)) return ok({ kind: "local" });
    const message = `Host: expected localhost, 127.0.0.1, [::1], server.host or the host of one of server.allowedOrigins, as no users are configured, got ${shown(host)}`;
    return refuse({ code: "forbidden", message });
  }
  if (!needsAccount) return ok({ kind: "nobody" });
  const checked = await authenticator.check(request.headers.authorization, clientAddress(request, server), gone);
  switch (checked.kind) {
    case "user":
      return ok(checked);
    case "throttled":
      return refuse({ code: "too_many_attempts", message: "Too many wrong credentials; try again later." });
    case "anonymous":
    case "wrong":
      return refuse(CREDENTIALS_NEEDED);
  }
}
