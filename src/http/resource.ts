import type { IncomingHttpHeaders } from "node:http";
import type { KeptUser } from "../account/user.ts";
import type { Configuration } from "../configuration/configuration.ts";
import type { Operations } from "../coordinator/operations.ts";
import type { Catalogue } from "../layer/catalogue.ts";
import type { LayerName } from "../layer/tile-set.ts";
import type { Refusal } from "../lib/refusal.ts";
import type { Result } from "../lib/result.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { Documents } from "./api/documents/documents.ts";
import type { ServerEvents } from "./api/events/server-events.ts";
import type { OwnNode } from "./api/nodes/node-view.ts";
import type { Authenticator } from "./auth/credentials.ts";
import type { Caller, Need } from "./auth/rights.ts";
import { methodAnswer } from "./errors.ts";
import type { ServingMetrics } from "./metrics/metrics-sample.ts";
import type { Readiness } from "./readiness.ts";
import type { Answer } from "./reply.ts";
import type { Address, Target } from "./request/request.ts";
import type { ServerCalls } from "./server-calls.ts";

/** The methods that a resource can define. HEAD and OPTIONS are derived from them. */
export const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
export type Method = (typeof METHODS)[number];

/** The parts of the configuration in force that routes use and show. */
type ConfiguredParts = Pick<
  Configuration,
  | ("file" | "includedIn" | "geowebcache" | "dataDir" | "isWritable" | "overridden" | "layerOrigins" | "objects")
  | ("layers" | "gridSets" | "stores" | "state" | "cluster" | "server" | "jobs" | "compat" | "serviceInformation")
>;

/** The parts of the server that routes use. */
export interface RouteOptions extends ServerCalls {
  readonly clock: Clock;
  readonly configured: () => ConfiguredParts;
  readonly operations: Operations;
  readonly authenticator: Authenticator;
  readonly events: ServerEvents;
  /** Returns the metrics of this process only. */
  readonly ownMetrics: () => Promise<ServingMetrics>;
  /** The answering node. Undefined without a cluster. */
  readonly node: OwnNode | undefined;
  readonly readiness: () => Readiness;
  /** The number of processes that answer requests. */
  readonly workers: number;
  readonly users: () => readonly Pick<KeptUser, "name" | "roles" | "keptIn">[];
  /** Checks the text of a configuration. Does not load it. */
  readonly checkConfiguration: (text: Uint8Array) => Promise<Documents["ConfigurationCheck"]["problems"]>;
}

/** A request that has passed all checks before its body. It is the input of a handler. */
export interface Exchange {
  /** The mount includes the path that a trusted proxy has removed, because links need both. */
  readonly target: Target;
  readonly headers: IncomingHttpHeaders;
  readonly query: URLSearchParams;
  /** Scheme, host and port as the client addressed them: `http://host:8080`. */
  readonly origin: string;
  /** The origin followed by the mount of the target. */
  readonly base: string;
  readonly catalogue: Catalogue;
  readonly caller: Caller;
  /** The user's name. Null if the server has no users. */
  readonly by: string | null;
  /** The client's address. */
  readonly address: string;
  /** Fires when the client has disconnected. */
  readonly signal: AbortSignal;
  /**
   * Returns whether the caller still has the right that the handler needs. A long answer, such as a stream of events,
   * checks again.
   */
  readonly isStillPermitted: () => boolean;
  /**
   * Reads the whole body and decodes it.
   * @param limit the most bytes of the body; absent for the limit of the management interface
   */
  body<T>(decode: (bytes: Uint8Array) => Result<T, Refusal>, limit?: number): Promise<Result<T, Refusal>>;
}

/** The result of a handler: an answer, or a refusal that the route encodes as text or problem+json. */
export type Reply = Answer | { readonly ok: false; readonly error: Refusal };

export interface Handler {
  readonly need: Need;
  readonly handle: (exchange: Exchange) => Promise<Reply>;
}

/** Returns a handler that needs the right to read. */
export const reading = (handle: Handler["handle"]): Handler => ({ need: "read", handle });
/** Returns a handler that needs the right to run tasks. */
export const operating = (handle: Handler["handle"]): Handler => ({ need: "operate", handle });
/** Returns a handler that needs the right to administer. */
export const administering = (handle: Handler["handle"]): Handler => ({ need: "administer", handle });

/** The parts of a request that a public resource may use. */
export interface PublicRequest {
  /** The path that a trusted proxy has removed, followed by the mount. */
  readonly mount: string;
  readonly headers: IncomingHttpHeaders;
}

/** A public document at one path. Supports GET, HEAD and OPTIONS. */
export interface PublicResource {
  readonly document: (request: PublicRequest) => Answer;
}

/** The handlers at one path, each with the right that it needs. */
export interface Resource {
  readonly methods: Readonly<Partial<Record<Method, Handler>>>;
  /** The layer in the path. It is checked before the body is read. */
  readonly layer?: LayerName;
  /** `optional`: requests without an account are answered too. Absent: an account is needed. */
  readonly account?: "optional";
  /** True: a browser gets the 405 as an HTML page. */
  readonly browserPage?: boolean;
}

/** A family of resources. */
export interface Route {
  /**
   * Returns whether all paths with this first segment belong to the route. Then the 404 of an unknown path, and the
   * refusal of an undecodable path, need an account.
   */
  readonly owns?: (first: string) => boolean;
  /** True if refusals are problem+json. Absent if they are text. */
  readonly problems?: true;
  /** Returns the resource of a path. Undefined if the path has none. */
  readonly resourceAt: (segments: readonly string[], address: Address) => Resource | PublicResource | undefined;
}

/** Returns the answer of a public resource to a request with any method. */
export function publicAnswer({ document }: PublicResource, method: string, request: PublicRequest): Answer {
  const allow = "GET, HEAD, OPTIONS";
  if (method === "OPTIONS") return { status: 200, body: "", headers: { Allow: allow } };
  return method === "GET" || method === "HEAD" ? document(request) : methodAnswer(method, allow);
}

/** Returns the Allow header of a resource. Adds HEAD to GET, and always OPTIONS. */
export function allowOf({ methods }: Resource): string {
  const names = Object.keys(methods);
  return [...names.flatMap((m) => (m === "GET" ? ["GET", "HEAD"] : [m])), "OPTIONS"].join(", ");
}

/** Returns the handler of a method. Undefined if the method is not supported. HEAD uses the handler of GET. */
export function handlerOf({ methods }: Resource, method: string): Handler | undefined {
  const offered = method === "HEAD" ? "GET" : METHODS.find((known) => known === method);
  return offered === undefined ? undefined : methods[offered];
}
