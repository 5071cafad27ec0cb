import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { inCharset } from "../body/charset.ts";
import type { Catalogue } from "../layer/catalogue.ts";
import type { Logger } from "../lib/process/logger.ts";
import type { Random } from "../lib/random/random.ts";
import { type Refusal, unknownLayer } from "../lib/refusal.ts";
import { refuse } from "../lib/result.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { ChangeLog } from "./activity/change-log.ts";
import { callerOf, isStillPermitted } from "./auth/caller.ts";
import { type Caller, challengeOf, forbiddenTo } from "./auth/rights.ts";
import { crossSiteRefusal } from "./auth/site-checks.ts";
import { methodAnswer, NOT_FOUND, refusalOfFault, refusalProblem, refusalText, STATUS } from "./errors.ts";
import { methodPage } from "./management/killed-page.ts";
import { type Answer, POLICY_HEADER, pageAnswer } from "./reply.ts";
import { parseForm } from "./request/query.ts";
import { clientAddress, ownAddress, readBody, type Target } from "./request/request.ts";
import {
  allowOf,
  type Exchange,
  type Handler,
  handlerOf,
  publicAnswer,
  type Resource,
  type RouteOptions,
} from "./resource.ts";
import { createRouting } from "./routes.ts";

export interface ManagementOptions extends RouteOptions {
  readonly catalogue: () => Catalogue;
  readonly random: Random;
  readonly changes: ChangeLog;
  readonly log: Logger;
}

/** A request to the management interface, whose address has no mount. */
export interface ManagementRequest {
  readonly request: IncomingMessage;
  readonly target: Target;
  readonly requestId: string;
  /** Fires when the client has disconnected. */
  readonly signal: AbortSignal;
}

/** Answers a request to the management interface. */
export type Manager = (requested: ManagementRequest) => Promise<Answer>;

/** The facts for a request's log line that are not in its answer. */
interface Outcome {
  user: string | null;
  refusal: Refusal | undefined;
  /** Whether the handler only reads, as some POST handlers do. */
  isRead: boolean;
}

/** Converts a refusal to an answer in the form of the route. */
type AnswerRefusal = (refusal: Refusal) => Answer;

/**
 * Returns the handler of all paths except the health checks and the tile protocols. For a resource that is not public
 * it checks in this order: credentials (401), the Host of a server without users and cross-site requests (403), the
 * path (404), the method (405), the role (403), the layer, the body.
 */
export function createManagement(options: ManagementOptions): Manager {
  const find = createRouting(options);
  return async (requested) => {
    const beganMs = options.clock.monotonicNow();
    const outcome: Outcome = { user: null, refusal: undefined, isRead: false };
    const answer = await answerTo(requested, outcome);
    const { user, refusal, isRead } = outcome;
    const logIn = refusal?.logIn;
    const hasOnlyRead = isRead || answer.isPreview === true;
    if ((mayChange(requested.request) && !hasOnlyRead) || logIn !== undefined) {
      const { request, target, requestId } = requested;
      const { method = "GET" } = request;
      options.changes.answered({
        requestId,
        user: logIn ?? answer.signedIn ?? user,
        address: clientAddress(request, options.configured().server),
        method,
        path: target.path.slice(0, 500),
        status: answer.status,
        refusal,
        jobId: answer.jobId,
        detail: answer.detail,
        repeats: answer.repeats,
        ms: options.clock.monotonicNow() - beganMs,
      });
    }
    return answer;
  };

  async function answerTo(requested: ManagementRequest, outcome: Outcome): Promise<Answer> {
    const { request, target } = requested;
    const { resource, isOwned, problems } = find(target);
    const found = resource.ok ? resource.value : undefined;
    if (found !== undefined && "document" in found) {
      outcome.isRead = true;
      const { prefix } = ownAddress(request, options.configured().server);
      return publicAnswer(found, request.method ?? "GET", { mount: prefix + target.mount, headers: request.headers });
    }
    const refused: AnswerRefusal = (refusal) => {
      outcome.refusal = refusal;
      return problems ? refusalProblem(refusal) : refusalText(refusal);
    };
    const server = options.configured().server;
    const use = found === undefined && !isOwned ? "none" : (found?.account ?? "needed");
    const faults = {
      log: options.log,
      clock: options.clock,
      requestId: requested.requestId,
      path: target.path.slice(0, 500),
    };
    const caller = await withoutDiskFault(callerOf(request, use, { ...options, server }, requested.signal), faults);
    if (!caller.ok) return unauthenticated(caller.error, request.headers, refused);
    outcome.user = caller.value.kind === "user" ? caller.value.user.name : null;
    const { origin, prefix } = ownAddress(request, server);
    const foreign = mayChange(request) ? crossSiteRefusal(request.headers, origin, server) : undefined;
    if (foreign !== undefined) return refused(foreign);
    if (lacksToken(caller.value, request, found)) return refused(CSRF_TOKEN_NEEDED);
    if (!resource.ok) return refused(resource.error);
    if (found === undefined) return refused(NOT_FOUND);
    const handler = handlerFor(found, request, prefix, refused);
    if ("status" in handler) return handler;
    outcome.isRead = handler.need === "read";
    const forbidden = forbiddenTo(caller.value, handler.need);
    if (forbidden !== undefined) return refused(forbidden);
    const { layer } = found;
    if (layer !== undefined && !options.catalogue().layers.has(layer)) return refused(unknownLayer(layer));
    const mount = prefix + target.mount;
    const exchange: Exchange = {
      target: { ...target, mount },
      headers: request.headers,
      query: parseForm(target.query),
      origin,
      base: origin + mount,
      catalogue: options.catalogue(),
      caller: caller.value,
      address: clientAddress(request, server),
      by: outcome.user,
      signal: requested.signal,
      isStillPermitted: () => isStillPermitted(caller.value, handler.need, options.authenticator),
      async body(decode, limit) {
        const bytes = await readBody(request, limit);
        if (!bytes.ok) return bytes;
        const text = inCharset(bytes.value, request.headers["content-type"]);
        return text.ok ? decode(text.value) : text;
      },
    };
    return run(handler, exchange, faults, refused);
  }
}

function unauthenticated(refusal: Refusal, headers: IncomingHttpHeaders, refused: AnswerRefusal): Answer {
  const answer = refused(refusal);
  return refusal.code === "unauthorized" ? { ...answer, headers: challengeOf(headers) } : answer;
}

const mayChange = ({ method = "GET" }: IncomingMessage): boolean => !["GET", "HEAD", "OPTIONS"].includes(method);

const CSRF_TOKEN_NEEDED: Refusal = {
  code: "forbidden",
  message: "X-CSRF-Token: expected the csrfToken of the session, as GET /api/v1/session has it",
};

/**
 * Returns whether a change was sent with a session cookie, but without its CSRF token. A sign-in needs no token,
 * because its password proves who sent it.
 */
function lacksToken(caller: Caller, request: IncomingMessage, resource: Resource | undefined): boolean {
  if (caller.kind !== "user" || caller.csrfToken === undefined || !mayChange(request)) return false;
  if (resource?.account === "optional" && request.method === "POST") return false;
  return request.headers["x-csrf-token"] !== caller.csrfToken;
}

/** Returns the handler of a method, or the answer to OPTIONS or an unsupported method. */
function handlerFor(
  resource: Resource,
  { method = "GET", headers }: IncomingMessage,
  prefix: string,
  refused: AnswerRefusal,
): Handler | Answer {
  const allow = allowOf(resource);
  if (method === "OPTIONS") return { status: 200, body: "", headers: { Allow: allow } };
  const handler = handlerOf(resource, method);
  if (handler !== undefined) return handler;
  if (resource.browserPage === true && method === "GET" && /text\/html/i.test(headers.accept ?? ""))
    return {
      ...pageAnswer(STATUS.method_not_allowed, methodPage(allow.split(", "), `${prefix}/`)),
      headers: { Allow: allow, ...POLICY_HEADER },
    };
  return methodAnswer(method, allow, refused);
}

/** The log for a fault of the disk, and the request that had the fault. */
interface FaultReport {
  readonly log: Logger;
  readonly clock: Clock;
  readonly requestId: string;
  readonly path: string;
}

/** Runs the handler of a permitted request. */
async function run(handler: Handler, exchange: Exchange, faults: FaultReport, refused: AnswerRefusal): Promise<Answer> {
  const reply = await withoutDiskFault(handler.handle(exchange), faults);
  const answer = "ok" in reply ? refused(reply.error) : reply;
  const { ignored } = answer;
  const { log, clock, requestId, path } = faults;
  if (ignored !== undefined)
    clock.soon(() =>
      log.warn("unknown fields of a request were ignored", { requestId, user: exchange.by, path, fields: ignored }),
    );
  return answer;
}

/**
 * Converts a fault of the disk to a refusal, so that the client learns the cause.
 * @throws any other fault
 */
async function withoutDiskFault<T>(
  reply: Promise<T>,
  { log, requestId, path }: FaultReport,
): Promise<T | ReturnType<typeof refuse<Refusal>>> {
  try {
    return await reply;
  } catch (error) {
    const refusal = refusalOfFault(error);
    if (refusal === undefined) throw error;
    log.error("a request failed by a fault of the disk", { requestId, path, error: String(error) });
    return refuse<Refusal>(refusal);
  }
}
