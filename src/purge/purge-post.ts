import { DELIVERY_CONNECTIONS, deliver, isSuccess } from "../lib/http/deliver.ts";
import { HttpClient } from "../lib/http/http-client.ts";
import { ownVersion } from "../lib/process/version.ts";
import type { Clock } from "../lib/time/clock.ts";
import { purgeRequest } from "./purge-request.ts";
import { isPathService, type PurgeMode, type PurgeService } from "./purge-service.ts";

/** The statuses by which a cache says that it has no copy at an address. */
const NO_COPY: ReadonlySet<number> = new Set([404, 410]);

/** Sends purges to services. */
export interface PurgePost extends AsyncDisposable {
  /** Sends one request. Returns undefined if the service has carried it out, else the reason, without address or secret. */
  send(
    service: PurgeService,
    keys: readonly string[],
    mode: PurgeMode,
    signal: AbortSignal,
  ): Promise<string | undefined>;
}

export function createPurgePost(clock: Clock): PurgePost {
  const client = new HttpClient(DELIVERY_CONNECTIONS);
  const userAgent = `Nuthatch/${ownVersion()}`;
  return {
    send(service, keys, mode, signal) {
      const { headers, ...request } = purgeRequest(service, keys, mode, clock.now());
      return deliver(
        { client, clock },
        { ...request, headers: { "user-agent": userAgent, ...headers } },
        (status) => isSuccess(status) || (isPathService(service) && NO_COPY.has(status)),
        signal,
      );
    },
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}
