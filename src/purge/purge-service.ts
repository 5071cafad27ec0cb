import type { AwsCredentials } from "../lib/aws/aws-signature.ts";
import type { HttpMethod } from "../lib/http/http-client.ts";

/** The limits of a service that removes copies. */
interface Limits {
  readonly id: string;
  /** The most keys of one request. */
  readonly keysPerRequest: number;
  /** The most requests in a second. Below 1 for less than one. */
  readonly ratePerSecond: number;
}

/** A service that removes copies of tiles: a CDN or a cache in front of the server. */
export type PurgeService = TagService | PathService;

/** A service that removes copies by their tags. */
type TagService = Limits &
  (
    | {
        readonly type: "http";
        readonly method: HttpMethod;
        /** Address, values of headers and body with the placeholders `{keys}` and `{keysJson}`. */
        readonly url: string;
        readonly headers: Readonly<Record<string, string>>;
        readonly body?: string;
        /** The text between two keys of `{keys}`. */
        readonly separator: string;
      }
    | { readonly type: "varnish"; readonly url: string; readonly headers: Readonly<Record<string, string>> }
    | { readonly type: "fastly"; readonly url: string; readonly serviceId: string; readonly apiToken: string }
    | { readonly type: "cloudflare"; readonly url: string; readonly zoneId: string; readonly apiToken: string }
  );

/** A service that removes copies by their addresses. */
export type PathService = Limits & {
  readonly url: string;
  /** The addresses of tiles in front of the service: templates, or addresses below which all templates lie. */
  readonly publicUrls: readonly string[];
} & (
    | { readonly type: "nginx" | "trafficserver"; readonly headers: Readonly<Record<string, string>> }
    | ({ readonly type: "cloudfront"; readonly distributionId: string } & AwsCredentials)
  );

export const isPathService = (service: PurgeService): service is PathService => "publicUrls" in service;

/** Whether a service removes its copies, or marks them as stale and may serve them until they are renewed. */
export type PurgeMode = "hard" | "soft";

/** The time in which a service is to know of a change. */
const COLLAPSED_SECONDS = 5;
const MOST_KEYS = 10_000;

/**
 * Returns the most keys of one layer that wait for a service: as many as its limits allow within seconds. More keys are
 * replaced by the keys of the layer.
 */
export const mostKeys = ({ keysPerRequest, ratePerSecond }: Limits): number =>
  Math.max(keysPerRequest, Math.min(MOST_KEYS, Math.floor(keysPerRequest * ratePerSecond * COLLAPSED_SECONDS)));

/**
 * The limits of CloudFront are of the paths whose invalidation is in progress: 3000, and 15 with a wildcard. An
 * invalidation is assumed to take this time.
 */
const INVALIDATION_MS = 90_000;
const WILDCARDS_IN_PROGRESS = 15;
const WILDCARDS_PER_REQUEST = 5;
const PATHS_IN_PROGRESS = 3000;
/** The most paths of one request to CloudFront, so that two requests are permitted in any `INVALIDATION_MS`. */
export const CLOUDFRONT_PATHS = PATHS_IN_PROGRESS / 2;

/** Returns whether a key stands for all addresses that begin with it. */
const isWildcard = (key: string): boolean => key.endsWith("*");

/** Divides keys into requests that a service permits. */
export function* requestsOf(service: PurgeService, keys: readonly string[]): Generator<readonly string[]> {
  let request: string[] = [];
  let wildcards = 0;
  for (const key of keys) {
    const added = service.type === "cloudfront" && isWildcard(key) ? 1 : 0;
    if (request.length === service.keysPerRequest || wildcards + added > WILDCARDS_PER_REQUEST) {
      yield request;
      request = [];
      wildcards = 0;
    }
    request.push(key);
    wildcards += added;
  }
  if (request.length > 0) yield request;
}

/** Returns the time from the beginning of a request with some keys to the beginning of the next one, in ms. */
export function intervalMs(service: PurgeService, keys: readonly string[]): number {
  const ms = 1000 / service.ratePerSecond;
  if (service.type !== "cloudfront") return ms;
  const wildcards = keys.filter(isWildcard).length;
  const forWildcards = (wildcards * INVALIDATION_MS) / (WILDCARDS_IN_PROGRESS - WILDCARDS_PER_REQUEST);
  const forPaths = (keys.length * INVALIDATION_MS) / (PATHS_IN_PROGRESS - CLOUDFRONT_PATHS);
  return Math.max(ms, forWildcards, forPaths);
}

/** Returns the longest time from the beginning of a request to the beginning of the next one, in ms. */
export const longestIntervalMs = (service: PurgeService): number => {
  const wildcards = Array.from({ length: Math.min(WILDCARDS_PER_REQUEST, service.keysPerRequest) }, () => "*");
  const others = Array.from({ length: service.keysPerRequest - wildcards.length }, () => "");
  return intervalMs(service, [...wildcards, ...others]);
};
