import type { HttpMethod } from "../lib/http/http-client.ts";

/** The limits of a service that removes copies. */
interface Limits {
  readonly id: string;
  /** The most keys of one request. */
  readonly keysPerRequest: number;
  /** The most requests in a second. Below 1 for less than one. */
  readonly ratePerSecond: number;
}

/** A service that removes copies of tiles by their tags: a CDN or a cache in front of the server. */
export type PurgeService = Limits &
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

/** Whether a service removes its copies, or marks them as stale and may serve them until they are renewed. */
export type PurgeMode = "hard" | "soft";

/** The time in which a service is to know of a change. */
const COLLAPSED_SECONDS = 5;
const MOST_KEYS = 10_000;

/**
 * Returns the most keys of one layer that wait for a service: as many as its limits allow within seconds. More keys are
 * replaced by the tag of the layer.
 */
export const mostKeys = ({ keysPerRequest, ratePerSecond }: Limits): number =>
  Math.max(keysPerRequest, Math.min(MOST_KEYS, Math.floor(keysPerRequest * ratePerSecond * COLLAPSED_SECONDS)));
