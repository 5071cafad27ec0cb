import { Failover } from "./failover.ts";
import { createHttpFetch } from "./http-fetch.ts";
import { addressesOf, type HttpSourceOptions, serversOf } from "./servers.ts";
import { type DrawRequest, type Source, SourceError } from "./source.ts";

/** Milliseconds of a clock that never goes back. */
export type Clock = () => number;
const monotonic: Clock = () => performance.now();

/**
 * A source over HTTP: its kinds differ only in the address of a picture. `pictureUrl` makes it from one of the configured
 * addresses; it may throw a SourceError, which fails the draw before anything is sent.
 */
export function createHttpSource(
  options: HttpSourceOptions,
  pictureUrl: (address: string, request: DrawRequest) => URL,
  now: Clock = monotonic,
): Source {
  const http = createHttpFetch(options, serversOf(options));
  const failover = new Failover(addressesOf(options), now);
  return {
    draw: async (request, signal) => ({
      kind: "encoded",
      bytes: await failover.run((address) => {
        // Nothing is asked of the next address for a draw that nobody wants any more.
        if (signal.aborted) throw new SourceError("cancelled", "cancelled", { cause: signal.reason });
        return http.picture(pictureUrl(address, request), signal);
      }),
    }),
    [Symbol.asyncDispose]: () => http[Symbol.asyncDispose](),
  };
}
