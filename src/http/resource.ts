import type { IncomingHttpHeaders } from "node:http";
import type { Catalogue } from "../layer/catalogue.ts";
import type { Refusal } from "../lib/refusal.ts";
import type { Result } from "../lib/result.ts";
import type { Need } from "./auth/rights.ts";
import type { Answer } from "./reply.ts";
import type { Target } from "./request.ts";

/** The methods that a resource can offer. HEAD and OPTIONS follow from them. */
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
type Method = (typeof METHODS)[number];

/** What a handler sees of a request that has passed all checks before the body. */
export interface Exchange {
  readonly target: Target;
  readonly headers: IncomingHttpHeaders;
  readonly query: URLSearchParams;
  /** `http://host:8080`, as the client asked. */
  readonly origin: string;
  /** The origin with the mount asked. */
  readonly base: string;
  readonly catalogue: Catalogue;
  /** The account that asks; null: no users are configured. */
  readonly by: string | null;
  /** Fires when the client has gone. */
  readonly signal: AbortSignal;
  body(): Promise<Result<Uint8Array, Refusal>>;
}

export interface Handler {
  readonly need: Need;
  readonly handle: (exchange: Exchange) => Promise<Answer>;
}

/** What is at a path. */
export interface Resource {
  readonly methods: Readonly<Partial<Record<Method, Handler>>>;
  /** The layer that the path names: checked before the body is read. */
  readonly layer?: string;
  /** Refusals as problem+json instead of text. */
  readonly problems?: boolean;
  /** The 405 of a browser is a page. */
  readonly browserPage?: boolean;
}

/** Finds the resource of a path; undefined: not one of this protocol's. */
export type Route = (segments: readonly string[], path: string) => Resource | undefined;

/** HEAD wherever GET is, OPTIONS everywhere. */
export function allowOf({ methods }: Resource): string {
  const names = Object.keys(methods);
  return [...names.flatMap((m) => (m === "GET" ? ["GET", "HEAD"] : [m])), "OPTIONS"].join(", ");
}

/** Returns what answers a method of a resource: HEAD is answered by the handler of GET. Undefined: the answer is 405. */
export function handlerOf({ methods }: Resource, method: string): Handler | undefined {
  const offered = method === "HEAD" ? "GET" : METHODS.find((known) => known === method);
  return offered === undefined ? undefined : methods[offered];
}
