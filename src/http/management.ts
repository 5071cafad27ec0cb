import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Operations } from "../coordinator/operations.ts";
import type { Catalogue } from "../layer/catalogue.ts";
import type { Logger } from "../lib/logger.ts";
import { type Refusal, shown, unknownLayer } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import type { JobOptions } from "../plan/job-options.ts";
import { apiRoute } from "./api/api-route.ts";
import type { JobEvents } from "./api/events/job-events.ts";
import { challengeOf } from "./auth/challenge.ts";
import type { Authenticator } from "./auth/credentials.ts";
import { type Caller, mayDo } from "./auth/rights.ts";
import { mapPageRoute } from "./console/map-page-route.ts";
import { isCrossSite } from "./cross-site.ts";
import { refusalOfFault, refusalProblem, refusalText } from "./errors.ts";
import { diskQuotaRoute } from "./management/disk-quota-route.ts";
import { methodPage } from "./management/killed-page.ts";
import { massTruncateRoute } from "./management/mass-truncate-route.ts";
import { reloadRoute } from "./management/reload-route.ts";
import { seedRoute } from "./management/seed-route.ts";
import { metricsRoute } from "./metrics/metrics-route.ts";
import type { ServerMetrics } from "./metrics/metrics-sample.ts";
import type { CompatOptions, ServerOptions } from "./options.ts";
import { isOwnHost } from "./own-host.ts";
import type { Readiness } from "./readiness.ts";
import { type Answer, HTML_TYPE, methodAnswer, methodWords } from "./reply.ts";
import { clientAddress, ownOrigin, readBody, segmentsOf, type Target } from "./request.ts";
import { allowOf, type Exchange, type Handler, handlerOf, type Resource, type Route } from "./resource.ts";

export interface ManagementOptions {
  readonly server: () => ServerOptions;
  readonly compat: () => CompatOptions;
  readonly catalogue: () => Catalogue;
  readonly jobOptions: () => JobOptions;
  readonly operations: Operations;
  readonly jobEvents: JobEvents;
  readonly metrics: () => Promise<ServerMetrics>;
  readonly authenticator: Authenticator;
  readonly readiness: () => Readiness;
  readonly reload: () => Promise<Result<readonly string[], Refusal>>;
  readonly log: Logger;
}

type Manage = (request: IncomingMessage, target: Target, requestId: string, signal: AbortSignal) => Promise<Answer>;

/**
 * Returns the handler of the management interface, which serves every path that is not public. It checks in this order:
 * credentials (401), the Host of a server without users and cross-site requests (403), the path (404), the method
 * (405), the role (403), the layer, the body.
 */
export function createManagement(options: ManagementOptions): Manage {
  const { operations, jobOptions, compat, log } = options;
  const routes: readonly Route[] = [
    seedRoute({ operations, jobOptions }),
    massTruncateRoute({ operations, jobOptions }),
    diskQuotaRoute({ operations, compat }),
    reloadRoute(options.reload),
    apiRoute({
      operations,
      catalogue: options.catalogue,
      jobOptions,
      events: options.jobEvents,
      readiness: options.readiness,
    }),
    metricsRoute({ operations, metrics: options.metrics }),
    mapPageRoute({ operations, catalogue: options.catalogue }),
  ];

  /** Returns the resource at a path; undefined if there is none. Refuses a path with invalid percent-escapes. */
  function resourceAt(path: string): Result<Resource | undefined, Refusal> {
    const segments = segmentsOf(path);
    if (!segments.ok) return segments;
    for (const route of routes) {
      const resource = route(segments.value, path);
      if (resource !== undefined) return ok(resource);
    }
    return ok(undefined);
  }

  /** Returns the caller of a request. Refuses wrong or missing credentials, and a Host that is not this server's. */
  async function callerOf(
    request: IncomingMessage,
    isGuarded: boolean,
    gone: AbortSignal,
  ): Promise<Result<Caller, Refusal>> {
    const { authenticator } = options;
    if (!authenticator.usersConfigured()) {
      const { host } = request.headers;
      if (isOwnHost(host, options.server())) return ok({ kind: "local" });
      const message = `Host: expected localhost, 127.0.0.1, [::1], server.host or the host of one of server.allowedOrigins, as no users are configured, got ${shown(host)}`;
      return refuse({ code: "forbidden", message });
    }
    if (!isGuarded) return ok({ kind: "nobody" });
    const checked = await authenticator.check(
      request.headers.authorization,
      clientAddress(request, options.server()),
      gone,
    );
    switch (checked.kind) {
      case "user":
        return ok(checked);
      case "throttled": {
        const message = "Too many wrong credentials; try again later.";
        return refuse({ code: "too_many_attempts", message });
      }
      case "anonymous":
      case "wrong":
        return refuse(CREDENTIALS_NEEDED);
    }
  }

  /** Returns the handler of a method, or the answer if the method is OPTIONS or not allowed. */
  function handlerFor(resource: Resource, method: string, headers: IncomingHttpHeaders): Handler | Answer {
    const allow = allowOf(resource);
    if (method === "OPTIONS") return { status: 200, body: "", headers: { Allow: allow } };
    const handler = handlerOf(resource, method);
    if (handler !== undefined) return handler;
    if (resource.problems === true) {
      const refusal = { code: "method_not_allowed", message: methodWords(method, allow) } as const;
      return { ...refusalProblem(refusal), headers: { Allow: allow } };
    }
    if (resource.browserPage === true && method === "GET" && /text\/html/i.test(headers.accept ?? ""))
      return { status: 405, type: HTML_TYPE, body: methodPage(allow.split(", ")), headers: { Allow: allow } };
    return methodAnswer(method, allow);
  }

  /**
   * Runs a handler. Turns a fault of the disk into a refusal, so that the client learns the cause.
   * @throws any other fault
   */
  async function handled(handler: Handler, exchange: Exchange, requestId: string): Promise<Result<Answer, Refusal>> {
    try {
      return ok(await handler.handle(exchange));
    } catch (error) {
      const refusal = refusalOfFault(error);
      if (refusal === undefined) throw error;
      const path = exchange.target.path.slice(0, 500);
      log.error("a request failed by a fault of the disk", { requestId, path, error: String(error) });
      return refuse(refusal);
    }
  }

  return async (request, target, requestId, signal) => {
    const { headers, method = "GET" } = request;
    const refused = /^\/api(\/|$)/.test(target.path) ? refusalProblem : refusalText;
    const found = resourceAt(target.path);
    const isThere = found.ok && found.value !== undefined;
    const caller = await callerOf(request, isThere || isManagementPath(target.path), signal);
    if (!caller.ok) {
      const answer = refused(caller.error);
      return caller.error.code === "unauthorized" ? { ...answer, headers: challengeOf(headers) } : answer;
    }
    const origin = ownOrigin(request, options.server());
    const changes = !["GET", "HEAD", "OPTIONS"].includes(method);
    if (changes && isCrossSite(headers, origin, options.server().allowedOrigins))
      return refused({ code: "forbidden", message: "Requests from another site's page may not change anything here." });
    if (!found.ok) return refused(found.error);
    const resource = found.value;
    if (resource === undefined) return refused({ code: "not_found", message: "There is nothing at this path." });
    const handler = handlerFor(resource, method, headers);
    if ("status" in handler) return handler;
    const forbidden = forbiddenTo(caller.value, handler);
    if (forbidden !== undefined) return refused(forbidden);
    const catalogue = options.catalogue();
    if (resource.layer !== undefined && !catalogue.layers.has(resource.layer))
      return refused(unknownLayer(resource.layer));
    const exchange: Exchange = {
      target,
      headers,
      query: new URLSearchParams(target.query),
      origin,
      base: origin + target.mount,
      catalogue,
      by: caller.value.kind === "user" ? caller.value.user.name : null,
      signal,
      body: () => readBody(request),
    };
    const beganMs = performance.now();
    const done = await handled(handler, exchange, requestId);
    const answer = done.ok ? done.value : refused(done.error);
    if (handler.need === "read") return answer;
    const tookMs = performance.now() - beganMs;
    // Logged after the answer, so that the client does not wait for the log.
    setImmediate(() => {
      log.info("a request for a change was answered", {
        requestId,
        by: exchange.by,
        method,
        path: target.path.slice(0, 500),
        status: answer.status,
        ms: Math.round(tookMs * 10) / 10,
      });
    });
    return answer;
  };
}

const CREDENTIALS_NEEDED: Refusal = {
  code: "unauthorized",
  message: "Credentials are needed: HTTP Basic with a user of this server.",
};

/** Returns the reason why a caller may not use a handler; undefined if it may. */
function forbiddenTo(caller: Caller, { need }: Handler): Refusal | undefined {
  switch (caller.kind) {
    case "local":
      return undefined;
    case "nobody":
      return CREDENTIALS_NEEDED;
    case "user": {
      const { name, roles } = caller.user;
      if (mayDo(caller.user, need)) return undefined;
      const message = `The account ${JSON.stringify(name)} may not do this; its roles are: ${roles.join(", ")}.`;
      return { code: "forbidden", message };
    }
  }
}

/**
 * Returns whether an unknown path belongs to the management interface, so that its 404 needs credentials. Reads the raw
 * path, so that a path with an invalid escape gets a 401 before its 400.
 */
function isManagementPath(path: string): boolean {
  let first = path.split("/")[1] ?? "";
  try {
    first = decodeURIComponent(first);
  } catch {
    // The segment stays undecoded here; `resourceAt` has refused the path, and that answer follows the check of
    // credentials.
  }
  return first === "rest" || first === "api" || first === "metrics" || /^(masstruncate|diskquota)(\.|$)/.test(first);
}
