import type { IncomingHttpHeaders } from "node:http";
import type { KeptUser } from "../account/user.ts";
import type { MaskRenewal } from "../cache/masks.ts";
import type { ConfiguredObject, ObjectChange, ObjectEffect } from "../configuration/gwc/configured-object.ts";
import type { CompatOptions } from "../configuration/server-options.ts";
import type { Operations } from "../coordinator/operations.ts";
import type { GridSet } from "../grid/grid-set.ts";
import type { Catalogue } from "../layer/catalogue.ts";
import type { Layer } from "../layer/layer.ts";
import type { ServiceInformation } from "../layer/service-information.ts";
import type { Refusal } from "../lib/refusal.ts";
import type { Result } from "../lib/result.ts";
import type { JobOptions } from "../plan/job/job-options.ts";
import type { TestOrder, TestRender } from "../render/renderer/test-render.ts";
import type { UpstreamView } from "../render/upstream/upstream-limits.ts";
import type { UpstreamProbe } from "../render/upstream/upstream-probes.ts";
import type { StoreOptions } from "../store/store-options.ts";
import type { ServerEvents } from "./api/events/server-events.ts";
import type { DrainOutcome, LeadView, NodeRemoval, NodeView, OwnNode } from "./api/nodes/node-view.ts";
import type { TrafficQuery, TrafficView } from "./api/stats/traffic-history.ts";
import type { TrafficRatesView } from "./api/stats/traffic-rates.ts";
import type { Authenticator } from "./auth/credentials.ts";
import type { Caller, Need } from "./auth/rights.ts";
import { methodAnswer } from "./errors.ts";
import type { ServerMetrics, ServingMetrics } from "./metrics/metrics-sample.ts";
import type { Readiness } from "./readiness.ts";
import type { Answer } from "./reply.ts";
import type { Address, Target } from "./request.ts";

/** The methods that a resource can define. HEAD and OPTIONS are derived from them. */
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
type Method = (typeof METHODS)[number];

/** A problem of the text of a configuration. */
export interface CheckedProblem {
  readonly file: string;
  readonly line: number | null;
  readonly column: number | null;
  readonly path: string;
  readonly message: string;
  readonly suggestion: string | null;
  readonly severity: "error" | "warning";
}

/** The place of a layer's configuration: the file as the operator named it, or the variable or flag. */
export interface LayerOrigin {
  readonly file: string;
  readonly line?: number;
}

/** The files and the processes of this server. */
export interface Installation {
  /** The configuration file; undefined: the server has the demo layers. */
  readonly configurationFile: string | undefined;
  readonly dataDir: string;
  /** The address of the state database without the account; undefined: it is in the data directory. */
  readonly remoteState: string | undefined;
  /** The directories of the stores. */
  readonly tiles: readonly string[];
  /** The addresses of the stores in buckets. */
  readonly remoteTiles: readonly string[];
  /** The number of processes that answer requests. */
  readonly workers: number;
}

/** The parts of the server that routes use. */
export interface RouteOptions {
  readonly compat: () => CompatOptions;
  readonly jobOptions: () => JobOptions;
  readonly operations: Operations;
  readonly authenticator: Authenticator;
  readonly events: ServerEvents;
  readonly metrics: () => Promise<ServerMetrics>;
  /** Returns the metrics of this process alone. */
  readonly ownMetrics: () => Promise<ServingMetrics>;
  readonly traffic: (query: TrafficQuery) => Promise<TrafficView>;
  /** Returns how many requests for tiles users have sent, in all and a second. */
  readonly trafficRates: () => Promise<TrafficRatesView>;
  readonly upstreams: () => Promise<readonly UpstreamView[]>;
  readonly nodes: () => Promise<readonly NodeView[]>;
  /** Returns the lead of the cluster; undefined: the server is alone, or the lead does not tell. */
  readonly lead: () => Promise<LeadView | undefined>;
  /** The node that answers; undefined: the server is no cluster. */
  readonly node: OwnNode | undefined;
  readonly drainNode: (name: string, drained: boolean) => Promise<DrainOutcome>;
  readonly removeNode: (name: string) => Promise<NodeRemoval>;
  /** Asks an upstream for one tile; undefined: there is no upstream with this id. */
  readonly probeUpstream: (id: string, gone: AbortSignal) => Promise<UpstreamProbe | undefined>;
  /** Renders one tile, which is not stored; undefined: the layer has been removed. */
  readonly testLayer: (order: TestOrder, gone: AbortSignal) => Promise<TestRender | undefined>;
  readonly readiness: () => Readiness;
  readonly installation: () => Installation;
  readonly users: () => readonly Pick<KeptUser, "name" | "roles" | "keptIn">[];
  /** Returns where a layer is configured; undefined for a demo layer. */
  readonly layerOrigin: (layer: string) => LayerOrigin | undefined;
  /** Checks the text of a configuration. Loads nothing of it. */
  readonly checkConfiguration: (text: Uint8Array) => Promise<readonly CheckedProblem[]>;
  readonly reload: () => Promise<Result<readonly string[], Refusal>>;
  readonly configured: () => ConfiguredParts;
  /** Changes an object of the configuration. The change is stored and in force when this resolves. */
  readonly changeObject: (change: ObjectChange, by: string | null) => Promise<Result<null, Refusal>>;
  /** Loads rasters of a request filter again in all processes; stores a new picture of one before. */
  readonly updateMasks: (update: MaskUpdate) => Promise<Result<null, Refusal>>;
  /** Checks a change of an object of the configuration, and returns what the change would do. */
  readonly previewObject: (change: ObjectChange) => Promise<Result<ObjectEffect, Refusal>>;
}

/** The rasters of a request filter that are to be loaded again. */
export interface MaskUpdate extends MaskRenewal {
  /** The new picture of the only raster, for the filter's directory. */
  readonly picture?: Uint8Array;
}

/** The parts of the configuration in force that the configuration interface shows. */
export interface ConfiguredParts {
  /** The configuration file; undefined: there is none. */
  readonly file: string | undefined;
  readonly dataDir: string;
  readonly layers: readonly Layer[];
  readonly gridSets: readonly GridSet[];
  readonly objects: readonly ConfiguredObject[];
  readonly stores: readonly StoreOptions[];
  /** The description of the server in capabilities. */
  readonly serviceInformation: ServiceInformation;
  readonly compat: { readonly wmtsCiteCompliant: boolean };
  /** Whether requests may change what the configuration file defines. */
  readonly isWritable: boolean;
  /** The directory of GeoWebCache whose file is the configuration; undefined: there is none. */
  readonly geowebcache?: { readonly directory: string };
  /** The node of a cluster that this server is; undefined: it is alone. */
  readonly cluster?: { readonly node: string };
  /** The objects that replace a part of the file, by `overriddenKey`. */
  readonly overridden: ReadonlySet<string>;
  /** The files of the grid sets and stores that are in included files, by `overriddenKey`. */
  readonly includedIn: ReadonlyMap<string, string>;
}

/** A request that has passed all checks before the body, as a handler gets it. */
export interface Exchange {
  /** The mount begins with the path that a trusted proxy has removed: links need both. */
  readonly target: Target;
  readonly headers: IncomingHttpHeaders;
  readonly query: URLSearchParams;
  /** Scheme, host and port as the client addressed them: `http://host:8080`. */
  readonly origin: string;
  /** The origin followed by the mount of the target. */
  readonly base: string;
  readonly catalogue: Catalogue;
  readonly caller: Caller;
  /** The user's name; null if no users are configured. */
  readonly by: string | null;
  /** The client's address. */
  readonly address: string;
  /** Fires when the client has disconnected. */
  readonly signal: AbortSignal;
  /**
   * Returns whether the caller still has the right that the handler needs. An answer that lasts, such as a stream of
   * events, asks again.
   */
  readonly isStillPermitted: () => boolean;
  /**
   * Reads the whole body and decodes it. `limit`: the most bytes of the body. Absent: the limit of the management
   * interface.
   */
  body<T>(decode: (bytes: Uint8Array) => Result<T, Refusal>, limit?: number): Promise<Result<T, Refusal>>;
}

/** The result of a handler: an answer, or a refusal, which the route writes as text or problem+json. */
export type Reply = Answer | { readonly ok: false; readonly error: Refusal };

export interface Handler {
  readonly need: Need;
  readonly handle: (exchange: Exchange) => Promise<Reply>;
}

/** Returns a handler that everybody may call. */
export const anybody = (handle: Handler["handle"]): Handler => ({ need: "none", handle });
/** Returns a handler that needs the right to read. */
export const reading = (handle: Handler["handle"]): Handler => ({ need: "read", handle });
/** Returns a handler that needs the right to run tasks. */
export const operating = (handle: Handler["handle"]): Handler => ({ need: "operate", handle });
/** Returns a handler that needs the right to administer. */
export const administering = (handle: Handler["handle"]): Handler => ({ need: "administer", handle });

/** The parts of a request that a public resource may read. */
export interface PublicRequest {
  /** The path before the mount that a trusted proxy has removed, and the mount. */
  readonly mount: string;
  readonly headers: IncomingHttpHeaders;
}

/** A document for everybody, at one path. Supports GET, HEAD and OPTIONS. */
export interface PublicResource {
  readonly document: (request: PublicRequest) => Answer;
}

/** The handlers at one path. Each names the right that it needs. */
export interface Resource {
  readonly methods: Readonly<Partial<Record<Method, Handler>>>;
  /** The layer in the path. It is checked before the body is read. */
  readonly layer?: string;
  /** `optional`: those without an account are answered too. Absent: an account is needed. */
  readonly account?: "optional";
  /** True: a browser gets the 405 as an HTML page. */
  readonly browserPage?: boolean;
}

/** A family of resources. */
export interface Route {
  /**
   * Returns whether all paths with this first segment belong to the route. The 404 of an unknown one needs an account,
   * and so does the refusal of one that cannot be decoded.
   */
  readonly owns?: (first: string) => boolean;
  /** True: refusals are problem+json instead of text. */
  readonly problems?: true;
  /** Returns the resource of a path; undefined if there is none. */
  readonly resourceAt: (segments: readonly string[], address: Address) => Resource | PublicResource | undefined;
}

/** Returns the answer of a public resource to any method. */
export function publicAnswer({ document }: PublicResource, method: string, request: PublicRequest): Answer {
  const allow = "GET, HEAD, OPTIONS";
  if (method === "OPTIONS") return { status: 200, body: "", headers: { Allow: allow } };
  return method === "GET" || method === "HEAD" ? document(request) : methodAnswer(method, allow);
}

/** Returns the Allow header of a resource: HEAD is added where GET is, and OPTIONS always. */
export function allowOf({ methods }: Resource): string {
  const names = Object.keys(methods);
  return [...names.flatMap((m) => (m === "GET" ? ["GET", "HEAD"] : [m])), "OPTIONS"].join(", ");
}

/** Returns the handler of a method; undefined if the answer is 405. HEAD uses the handler of GET. */
export function handlerOf({ methods }: Resource, method: string): Handler | undefined {
  const offered = method === "HEAD" ? "GET" : METHODS.find((known) => known === method);
  return offered === undefined ? undefined : methods[offered];
}
