import { HttpClient } from "../../lib/http/http-client.ts";
import { ownVersion } from "../../lib/process/version.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Measurement } from "./measurements.ts";

/** An answer without a first byte after this time counts as none. */
const TIMEOUT_MS = 30_000;

/** Sends requests and measures the time to the first byte. */
export interface Prober extends AsyncDisposable {
  probe(url: URL, signal: AbortSignal): Promise<Measurement>;
}

/** @param connections the most requests at the same time */
export function createProber(clock: Clock, connections: number): Prober {
  const client = new HttpClient({ connections, connectTimeoutMs: TIMEOUT_MS });
  const headers = { "user-agent": `Nuthatch/${ownVersion()} quality`, "cache-control": "no-cache" };
  return {
    async probe(url, signal) {
      const atMs = clock.now();
      const begin = clock.monotonicNow();
      // With a limit of 0 bytes the answer is there at the first byte of its body.
      const question = { method: "GET", headers, untilMs: begin + TIMEOUT_MS, limit: 0, server: "configured" } as const;
      const status = await client.request(url, question, signal).then(
        (answer) => answer.status,
        (error: unknown) => {
          if (signal.aborted) throw error;
          return undefined;
        },
      );
      return { atMs, status, firstByteMs: Math.round(clock.monotonicNow() - begin) };
    },
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

/**
 * Requests addresses in turn at a constant rate, whether answers have come or not, and returns all measurements.
 * @param count the number of requests
 */
export async function probeAtRate(
  { prober, clock }: { readonly prober: Prober; readonly clock: Clock },
  urls: readonly URL[],
  { count, perSecond }: { readonly count: number; readonly perSecond: number },
  signal: AbortSignal,
): Promise<readonly Measurement[]> {
  const running: Promise<Measurement>[] = [];
  await new Promise<void>((resolve) => {
    const timer = clock.every(1_000 / perSecond, () => {
      const url = urls[running.length % urls.length];
      if (url !== undefined && running.length < count && !signal.aborted) running.push(prober.probe(url, signal));
      if (running.length < count && !signal.aborted) return;
      timer.cancel();
      resolve();
    });
  });
  return Promise.all(running);
}
