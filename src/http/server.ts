import { createServer, type IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { JobOptions } from "../jobs/job-options.ts";
import type { Operations } from "../jobs/operations.ts";
import type { Catalogue } from "../layer/catalogue.ts";
import type { Logger } from "../lib/logger.ts";
import { type Refusal, unknownLayer } from "../lib/refusal.ts";
import type { Result } from "../lib/result.ts";
import { currentTrace, traceContextOf, withTrace } from "../lib/trace-context.ts";
import { apiRoute } from "./api/api-route.ts";
import type { JobEvents } from "./api/job-events.ts";
import { type Authenticator, mayDo } from "./auth/credentials.ts";
import { isCrossSite } from "./cross-site.ts";
import { refusalProblem, refusalText } from "./errors.ts";
import { goneSignal } from "./gone.ts";
import { diskQuotaRoute } from "./management/disk-quota-route.ts";
import { methodPage } from "./management/killed-page.ts";
import { massTruncateRoute } from "./management/mass-truncate-route.ts";
import { reloadRoute } from "./management/reload-route.ts";
import { seedRoute } from "./management/seed-route.ts";
import { metricsRoute } from "./metrics/metrics-route.ts";
import type { FrontMetrics } from "./metrics/metrics-sample.ts";
import type { CompatOptions, ServerOptions, User } from "./options.ts";
import { assetAnswer, mapPageRoute } from "./pages/map-page-route.ts";
import type { Readiness } from "./readiness.ts";
import { type Answer, HTML_TYPE, send, textAnswer } from "./reply.ts";
import {
  ClientGone,
  clientAddress,
  ownOrigin,
  readBody,
  segmentsOf,
  splitTarget,
  type Target,
  underMount,
} from "./request.ts";
import { requestIdOf } from "./request-id.ts";
import { allowOf, type Exchange, handlerOf, type Resource, type Route } from "./resource.ts";
import { SilentConnections } from "./silent-connections.ts";
import type { TileDoors } from "./tiles/tile-door.ts";
import { isTilePath } from "./tiles/tile-route.ts";

export interface HttpOptions {
  readonly server: () => ServerOptions;
  readonly compat: () => CompatOptions;
  readonly catalogue: () => Catalogue;
  readonly jobOptions: () => JobOptions;
  readonly operations: Operations;
  readonly jobEvents: JobEvents;
  readonly metrics: () => Promise<FrontMetrics>;
  readonly authenticator: Authenticator;
  readonly tileDoors: TileDoors;
  readonly readiness: () => Readiness;
  readonly reload: () => Promise<Result<readonly string[], Refusal>>;
  readonly log: Logger;
}

export interface HttpServer {
  /** @throws when the address cannot be had */
  listen(host: string, port: number): Promise<{ readonly port: number }>;
  /** Stops accepting, lets requests in flight finish, cuts what is left after the grace. */
  close(graceMs: number): Promise<void>;
}

const PATH_LIMIT = 8 * 1024;
const ID_HEADER = "X-Request-Id";
/** What a connection made just before the shutdown has to say its first request. */
const LAST_WORD_MS = 500;

/**
 * The one HTTP server. Order of checks: mount, health, tiles (public), then for the management interface 401, cross-site
 * 403, 404, 405, role 403, layer, body (decisions 1).
 */
export function createHttpServer(options: HttpOptions): HttpServer {
  const { operations, jobOptions, compat, log } = options;
  let draining = false;
  const readiness = (): Readiness => (draining ? { ready: false, reason: "shutting down" } : options.readiness());
  const routes: readonly Route[] = [
    seedRoute({ operations, jobOptions }),
    massTruncateRoute({ operations, jobOptions }),
    diskQuotaRoute({ operations, compat }),
    reloadRoute(options.reload),
    apiRoute({ operations, catalogue: options.catalogue, jobOptions, events: options.jobEvents, readiness }),
    metricsRoute({ operations, metrics: options.metrics }),
    mapPageRoute({ operations, catalogue: options.catalogue }),
  ];

  const server = createServer({
    maxHeaderSize: 16 * 1024,
    requestTimeout: 60_000,
    headersTimeout: 30_000,
    keepAliveTimeout: 65_000,
    requireHostHeader: false,
  });
  const silent = new SilentConnections(server);
  server.on("request", (request, response) => {
    const trace = traceContextOf(request.headers);
    void withTrace(trace, () => serve(request, response)).catch((error: unknown) => {
      if (error instanceof ClientGone) return;
      const requestId = response.getHeader(ID_HEADER) ?? requestIdOf(request.headers, trace);
      log.error("a request failed by a fault", {
        requestId,
        method: request.method,
        url: request.url?.slice(0, 500),
        error: String(error),
        stack: error instanceof Error ? error.stack : undefined,
      });
      if (response.headersSent) response.destroy();
      else {
        response.setHeader(ID_HEADER, requestId);
        void send(response, textAnswer(500, "Internal error"), { head: request.method === "HEAD", draining: true });
      }
    });
  });
  server.on("checkExpectation", (_, response) => {
    void send(response, textAnswer(417, "Expect: only 100-continue is known", { Connection: "close" }), {
      head: false,
      draining,
    });
  });
  server.on("clientError", (error: Error & { code?: string }, socket: Socket) => refuseRaw(error.code, socket));
  // Node hands out the bare socket of a CONNECT. It is answered as any other method is: with the resource's Allow.
  server.on("connect", (request: IncomingMessage, socket: Socket) => {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.once("finish", () => socket.destroySoon());
    server.emit("request", request, response);
  });

  function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = request.url ?? "/";
    const head = request.method === "HEAD";
    const plain = (answer: Answer) => send(response, answer, { head, draining });
    if (url.length > PATH_LIMIT)
      return plain(textAnswer(414, `The address is longer than ${PATH_LIMIT} bytes.`, { Connection: "close" }));
    if (request.httpVersion === "1.1" && request.headers.host === undefined)
      return plain(textAnswer(400, "Host: expected one Host header", { Connection: "close" }));
    const { path, query } = splitTarget(url);
    const health = healthAnswer(path, request.method);
    if (health !== undefined) return plain(health);
    const target = path === "*" ? { mount: "", path: "*", query } : underMount(path, query, options.server().mounts);
    if (target === undefined) return plain(textAnswer(404, "There is nothing at this path."));
    const mounted = healthAnswer(target.path, request.method);
    if (mounted !== undefined) return plain(mounted);
    if (isTilePath(target.path)) {
      const base = () => ownOrigin(request, options.server()) + target.mount;
      if (draining) response.setHeader("Connection", "close");
      return Promise.resolve(
        options.tileDoors.handle(
          {
            method: request.method ?? "GET",
            path: target.path,
            query: target.query,
            headers: request.headers,
            baseUrl: base,
          },
          response,
        ),
      );
    }
    if (target.path.startsWith("/assets/")) return plain(assetAnswer(target.path, request.method ?? "GET"));
    const requestId = requestIdOf(request.headers, currentTrace());
    response.setHeader(ID_HEADER, requestId);
    return manage(request, target, requestId, goneSignal(response)).then((answer) =>
      send(response, answer, { head, draining: draining || !request.complete }),
    );
  }

  /** `/livez`: the process answers. `/readyz`, `/healthz`: it can serve. */
  function healthAnswer(path: string, method: string | undefined): Answer | undefined {
    if (path !== "/livez" && path !== "/readyz" && path !== "/healthz") return undefined;
    if (method === "OPTIONS") return { status: 200, body: "", headers: { Allow: "GET, HEAD, OPTIONS" } };
    if (method !== "GET" && method !== "HEAD") return methodAnswer(method ?? "", "GET, HEAD, OPTIONS");
    if (path === "/livez") return textAnswer(200, "ok");
    const state = readiness();
    return state.ready ? textAnswer(200, "ok") : textAnswer(503, state.reason);
  }

  async function manage(
    request: IncomingMessage,
    target: Target,
    requestId: string,
    signal: AbortSignal,
  ): Promise<Answer> {
    const method = request.method ?? "GET";
    const isApi = /^\/api(\/|$)/.test(target.path);
    const refused = isApi ? refusalProblem : refusalText;
    const { authenticator } = options;
    let user: User | undefined;
    if (authenticator.usersConfigured() && isManaged(target.path)) {
      const checked = await authenticator.check(
        request.headers.authorization,
        clientAddress(request, options.server()),
      );
      switch (checked.kind) {
        case "user":
          user = checked.user;
          break;
        case "throttled":
          return refused({ code: "too_many_attempts", message: "Too many wrong credentials; try again later." });
        case "anonymous":
        case "wrong":
          return refused({
            code: "unauthorized",
            message: "Credentials are needed: HTTP Basic with a user of this server.",
          });
      }
    }
    const origin = ownOrigin(request, options.server());
    if (
      !["GET", "HEAD", "OPTIONS"].includes(method) &&
      isCrossSite(request.headers, origin, options.server().allowedOrigins)
    ) {
      return refused({ code: "forbidden", message: "Requests from another site's page may not change anything here." });
    }
    if (target.path === "*") return { status: 200, body: "", headers: { Allow: "GET, HEAD, POST, PUT, OPTIONS" } };
    const segments = segmentsOf(target.path);
    if (!segments.ok) return refused(segments.error);
    const resource = findResource(segments.value, target.path);
    if (resource === undefined) return refused({ code: "not_found", message: "There is nothing at this path." });
    const allow = allowOf(resource);
    if (method === "OPTIONS") return { status: 200, body: "", headers: { Allow: allow } };
    const handler = handlerOf(resource, method);
    if (handler === undefined) {
      if (resource.problems === true) {
        return {
          ...refusalProblem({ code: "method_not_allowed", message: methodWords(method, allow) }),
          headers: { Allow: allow },
        };
      }
      if (resource.browserPage === true && method === "GET" && /text\/html/i.test(request.headers.accept ?? "")) {
        return { status: 405, type: HTML_TYPE, body: methodPage(allow.split(", ")), headers: { Allow: allow } };
      }
      return methodAnswer(method, allow);
    }
    if (user !== undefined && !mayDo(user, handler.need)) {
      return refused({
        code: "forbidden",
        message: `The account ${JSON.stringify(user.name)} may not do this; its roles are: ${user.roles.join(", ")}.`,
      });
    }
    const catalogue = options.catalogue();
    if (resource.layer !== undefined && !catalogue.layers.has(resource.layer)) {
      return refused(unknownLayer(resource.layer));
    }
    const exchange: Exchange = {
      target,
      headers: request.headers,
      query: new URLSearchParams(target.query),
      origin,
      base: origin + target.mount,
      catalogue,
      by: user?.name ?? null,
      signal,
      body: () => readBody(request),
    };
    if (handler.need === "read") return handler.handle(exchange);
    const beganMs = performance.now();
    const answer = await handler.handle(exchange);
    const tookMs = performance.now() - beganMs;
    // Nobody waits for the log.
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
  }

  function findResource(segments: readonly string[], path: string): Resource | undefined {
    for (const route of routes) {
      const resource = route(segments, path);
      if (resource !== undefined) return resource;
    }
    return undefined;
  }

  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once("error", reject);
        server.listen(port, host, () => {
          server.off("error", reject);
          resolve({ port: portOf(server.address()) });
        });
      }),
    async close(graceMs) {
      draining = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // A keep-alive connection that has become idle would hold `close` for its whole time-out.
      const idle = setInterval(() => server.closeIdleConnections(), 50);
      const unheard = setTimeout(() => silent.close(), Math.min(LAST_WORD_MS, graceMs));
      const cut = setTimeout(() => server.closeAllConnections(), graceMs);
      server.closeIdleConnections();
      await closed;
      clearInterval(idle);
      clearTimeout(unheard);
      clearTimeout(cut);
    },
  };
}

const portOf = (address: AddressInfo | string | null): number =>
  typeof address === "object" && address !== null ? address.port : 0;

const methodWords = (method: string, allow: string): string =>
  `Method ${method} is not allowed here; allowed: ${allow}`;
const methodAnswer = (method: string, allow: string): Answer =>
  textAnswer(405, methodWords(method, allow), { Allow: allow });

/** What needs credentials once users are configured (decisions 2): by the raw path, so that a bad escape is 401 first. */
function isManaged(path: string): boolean {
  if (path === "/" || path === "*") return true;
  let first = path.split("/")[1] ?? "";
  try {
    first = decodeURIComponent(first);
  } catch {
    // Taken as it stands; it is refused later.
  }
  return first === "rest" || first === "api" || first === "metrics" || /^(masstruncate|diskquota)(\.|$)/.test(first);
}

function rawAnswer(status: string, text: string): string {
  return `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(text)}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n${text}`;
}

/** What Node's parser refuses by itself, in the words of the interface. */
function refuseRaw(code: string | undefined, socket: Socket): void {
  if (code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  if (code === "HPE_HEADER_OVERFLOW")
    socket.end(
      rawAnswer("431 Request Header Fields Too Large", "The request line and headers are larger than 16384 bytes."),
    );
  else if (code === "ERR_HTTP_REQUEST_TIMEOUT")
    socket.end(rawAnswer("408 Request Timeout", "The request did not arrive in time."));
  else socket.end(rawAnswer("400 Bad Request", "The request is not valid HTTP."));
}
