import type { IncomingHttpHeaders } from "node:http";
import type { KeptUser } from "../account/user.ts";
import type { MaskRenewal } from "../cache/masks.ts";
import type { CompatOptions } from "../configuration/fields/server-schema.ts";
import type { ConfiguredObject, ObjectChange, ObjectEffect } from "../configuration/gwc/configured-object.ts";
import type { Operations } from "../coordinator/operations.ts";
import type { GridSet } from "../grid/grid-set.ts";
import type { Catalogue } from "../layer/catalogue.ts";
import type { Layer } from "../layer/layer.ts";
import type { ServiceInformation } from "../layer/service-information.ts";
import type { LayerName } from "../layer/tile-set.ts";
import type { Refusal } from "../lib/refusal.ts";
import type { Result } from "../lib/result.ts";
import type { JobOptions } from "../plan/job/job-options.ts";
import type { TestOrder, TestRender } from "../render/renderer/test-render.ts";
import type { UpstreamProbe, UpstreamView } from "../render/upstream/upstream-documents.ts";
import type { StoreOptions } from "../store/store-options.ts";
import type { Documents } from "./api/documents/documents.ts";
import type { ServerEvents } from "./api/events/server-events.ts";
import type { DrainOutcome, NodeView } from "./api/nodes/node-documents.ts";
import type { LeadView, NodeRemoval, OwnNode } from "./api/nodes/node-view.ts";
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
export const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
export type Method = (typeof METHODS)[number];

/** The place where a layer is configured: the file as the operator named it, or the variable or flag. */
export interface LayerOrigin {
  readonly file: string;
  readonly line?: number;
}

/** The files and the processes of this server. */
export interface Installation {
  /** The configuration file. Undefined if the server has the demo layers. */
  readonly configurationFile: string | undefined;
  readonly dataDir: string;
  /** The address of the state database without the account. Undefined if it is in the data directory. */
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
  /** Returns the metrics of this process only. */
  readonly ownMetrics: () => Promise<ServingMetrics>;
  readonly traffic: (query: TrafficQuery) => Promise<TrafficView>;
  /** Returns how many requests for tiles users have sent, in total and per second. */
  readonly trafficRates: () => Promise<TrafficRatesView>;
  readonly upstreams: () => Promise<readonly UpstreamView[]>;
  readonly nodes: () => Promise<readonly NodeView[]>;
  /** Returns the lead of the cluster. Undefined without a cluster, or if the lead does not respond. */
  readonly lead: () => Promise<LeadView | undefined>;
  /** The answering node. Undefined without a cluster. */
  readonly node: OwnNode | undefined;
  readonly drainNode: (name: string, drained: boolean) => Promise<DrainOutcome>;
  readonly removeNode: (name: string) => Promise<NodeRemoval>;
  /** Requests one tile of an upstream. Undefined if no upstream has this id. */
  readonly probeUpstream: (id: string, gone: AbortSignal) => Promise<UpstreamProbe | undefined>;
  /** Renders one tile, and does not store it. Undefined if the layer has been removed. */
  readonly testLayer: (order: TestOrder, gone: AbortSignal) => Promise<TestRender | undefined>;
  readonly readiness: () => Readiness;
  readonly installation: () => Installation;
  readonly users: () => readonly Pick<KeptUser, "name" | "roles" | "keptIn">[];
  /** Returns where a layer is configured. Undefined for a demo layer. */
  readonly layerOrigin: (name: string) => LayerOrigin | undefined;
  /** Checks the text of a configuration. Does not load it. */
  readonly checkConfiguration: (text: Uint8Array) => Promise<Documents["ConfigurationCheck"]["problems"]>;
  readonly reload: () => Promise<Result<readonly string[], Refusal>>;
  readonly configured: () => ConfiguredParts;
  /** Changes an object of the configuration. When it resolves, the change is stored and in force. */
  readonly changeObject: (change: ObjectChange, by: string | null) => Promise<Result<null, Refusal>>;
  /** Reloads rasters of a request filter in all processes. First stores a new picture, if one is given. */
  readonly updateMasks: (update: MaskUpdate) => Promise<Result<null, Refusal>>;
  /** Checks a change of an object of the configuration, and returns its effect. Changes nothing. */
  readonly previewObject: (change: ObjectChange) => Promise<Result<ObjectEffect, Refusal>>;
}

/** The rasters of a request filter to reload. */
export interface MaskUpdate extends MaskRenewal {
  /** The new picture of the only raster, to store in the filter's directory. */
  readonly picture?: Uint8Array;
}

/** The parts of the configuration in force that the configuration interface shows. */
export interface ConfiguredParts {
  /** The configuration file. Undefined if the server has the demo layers. */
  readonly file: string | undefined;
  readonly dataDir: string;
  readonly layers: readonly Layer[];
  readonly gridSets: readonly GridSet[];
  readonly objects: readonly ConfiguredObject[];
  readonly stores: readonly StoreOptions[];
  /** The description of the server in capabilities. */
  readonly serviceInformation: ServiceInformation;
  readonly compat: { readonly wmtsCiteCompliant: boolean };
  /** Whether requests may change objects of the configuration file. */
  readonly isWritable: boolean;
  /** The directory of GeoWebCache whose file is the configuration. Absent without such a directory. */
  readonly geowebcache?: { readonly directory: string };
  /** The node of a cluster. Absent without a cluster. */
  readonly cluster?: { readonly node: string };
  /** The objects that replace a part of the file, by `overriddenKey`. */
  readonly overridden: ReadonlySet<string>;
  /** The included files that have grid sets and stores, by `overriddenKey`. */
  readonly includedIn: ReadonlyMap<string, string>;
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

/** Returns a handler that needs no right. */
export const anybody = (handle: Handler["handle"]): Handler => ({ need: "none", handle });
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
