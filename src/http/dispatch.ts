import type { IncomingMessage, ServerResponse } from "node:http";
import { currentTrace } from "../lib/http/trace-context.ts";
import { shown } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import { goneSignal } from "./connection/gone.ts";
import { PipelinedRequests } from "./connection/pipelined-requests.ts";
import { type ErrorCode, httpError, NOT_FOUND, refusalText } from "./errors.ts";
import type { ManagementOptions, Manager } from "./management.ts";
import { publicReason, type Readiness } from "./readiness.ts";
import { type Answer, send, textAnswer } from "./reply.ts";
import { firstSegment } from "./request/percent.ts";
import {
  type Address,
  clientAddress,
  ID_HEADER,
  ownAddress,
  requestIdOf,
  splitTarget,
  type Target,
  underMount,
} from "./request/request.ts";
import { publicAnswer } from "./resource.ts";
import type { TileProtocols } from "./tiles/tile-protocols.ts";
import { isTilePath } from "./tiles/tile-route.ts";

export interface HttpOptions extends ManagementOptions {
  readonly tileProtocols: TileProtocols;
}

const PATH_LIMIT = 8 * 1024;

/**
 * Returns the function that answers every request: health checks, tile protocols, and the routes of the management
 * interface.
 * @param isDraining whether the server is shutting down
 */
export function createDispatch(
  options: HttpOptions,
  isDraining: () => boolean,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const readiness = (): Readiness => (isDraining() ? { ready: false, reason: "shutting down" } : options.readiness());
  let manager: Promise<Manager> | undefined;
  /**
   * The first request of the management interface loads its code, so that a server that only serves tiles starts
   * faster.
   */
  const manage: Manager = async (requested) => {
    manager ??= import("./management.ts").then((management) => management.createManagement({ ...options, readiness }));
    return (await manager)(requested);
  };
  const pipelined = new PipelinedRequests();

  const serveTiles = (request: IncomingMessage, target: Target, response: ServerResponse): Promise<void> => {
    if (isDraining()) response.setHeader("Connection", "close");
    const requested = {
      path: target.path,
      query: target.query,
      workspace: target.workspace,
      baseUrl: () => {
        const { origin, prefix } = ownAddress(request, options.configured().server);
        return origin + prefix + target.mount;
      },
    };
    const refuseOne = (): Promise<void> => {
      const answer = refusalText({ code: "too_many_requests", message: "Too many requests wait on this connection." });
      return send(response, answer, { head: request.method === "HEAD", draining: isDraining(), clock: options.clock });
    };
    return Promise.resolve(
      pipelined.begin(response, () => options.tileProtocols.handle(requested, response), refuseOne),
    );
  };

  const hasAccounts = (): boolean => options.authenticator.usersConfigured();
  const shownToAll = (reason: string): string => (hasAccounts() ? publicReason(reason) : reason);
  /** Answers a health check. Only authenticated clients get the details of a fault. */
  const answerHealth = async (
    resource: HealthResource,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<Answer> => {
    const { method = "GET", headers } = request;
    const state = readiness();
    const address = clientAddress(request, options.configured().server);
    const isAccount =
      !state.ready &&
      hasAccounts() &&
      (await options.authenticator.check(headers.authorization, address, goneSignal(response))).kind === "user";
    const shown = state.ready || isAccount ? state : { ...state, reason: shownToAll(state.reason) };
    return publicAnswer({ document: () => resource(shown) }, method, { mount: "", headers });
  };

  return (request, response) => {
    const { method = "GET" } = request;
    const reply = (answer: Answer, draining = isDraining()): Promise<void> =>
      send(response, answer, { head: method === "HEAD", draining, clock: options.clock });
    const address = addressOf(request);
    if (!address.ok) return reply(address.error);
    const { path, query } = address.value;
    const target = underMount(path, query, options.configured().server.mounts);
    const health = healthResource(path) ?? (target && healthResource(target.path));
    if (health !== undefined) return answerHealth(health, request, response).then((answer) => reply(answer));
    if (target === undefined) return reply(refusalText(NOT_FOUND));
    const state = options.readiness();
    if (!state.ready && state.isStarting === true)
      return reply(httpError("starting", `Nuthatch is not ready: ${shownToAll(state.reason)}`, { "Retry-After": "1" }));
    if (isTilePath(target.path)) return serveTiles(request, target, response);
    // As in GeoServer, only the tile services have addresses by workspace. Their pages need files and documentation.
    const isFile = ["assets", "docs"].includes(firstSegment(target.path) ?? "");
    if (target.workspace !== undefined && !isFile) return reply(refusalText(NOT_FOUND));
    const requestId = requestIdOf(request.headers, currentTrace(), options.random);
    response.setHeader(ID_HEADER, requestId);
    return manage({ request, target, requestId, signal: goneSignal(response) }).then((answer) =>
      reply(answer, isDraining() || !request.complete),
    );
  };
}

/** Returns the path and the query of a request. Refuses an unusable address before a route reads its path. */
function addressOf({ url = "/", rawHeaders, httpVersion }: IncomingMessage): Result<Address, Answer> {
  const refused = (code: ErrorCode, text: string) => refuse(httpError(code, text, { Connection: "close" }));
  const address = splitTarget(url);
  if (address === undefined)
    return refused(
      "malformed",
      `The request target begins neither with "/" nor with http:// or https://: ${shown(url)}`,
    );
  if (url.length > PATH_LIMIT) return refused("address_too_long", `The address is longer than ${PATH_LIMIT} bytes.`);
  const hosts = hostLines(rawHeaders);
  if (hosts > 1 || (hosts === 0 && httpVersion === "1.1"))
    return refused("malformed", "Host: expected one Host header");
  return ok(address);
}

/**
 * Counts the Host lines of a request (RFC 9112, 3.2: several are answered with 400). Node uses the first and drops the
 * others, while a proxy in front of this server may have used another line to route or check the request.
 */
function hostLines(rawHeaders: readonly string[]): number {
  let lines = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") lines++;
  }
  return lines;
}

/** Answers a health check according to the readiness. */
type HealthResource = (readiness: Readiness) => Answer;

/**
 * Returns the health resource of a path: `/livez` is 200 while the process responds, `/readyz` and `/healthz` are 200
 * while the server can serve. Undefined for any other path.
 */
function healthResource(path: string): HealthResource | undefined {
  const end = path.indexOf("/", 1);
  // A slash at the end is tolerated, as in all paths.
  if (end >= 0 && end < path.length - 1) return undefined;
  switch (firstSegment(path)) {
    case "livez":
      return () => textAnswer(200, "ok");
    case "readyz":
    case "healthz":
      return (state) => (state.ready ? textAnswer(200, "ok") : httpError("unavailable", state.reason));
    default:
      return undefined;
  }
}
