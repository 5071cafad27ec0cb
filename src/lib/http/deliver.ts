import { codeOf } from "../error-code.ts";
import type { Clock } from "../time/clock.ts";
import type { HttpClient, HttpQuestion } from "./http-client.ts";
import { BrokenAnswer, TooLate } from "./http-failure.ts";

const TIMEOUT_MS = 10_000;
/** Bytes of a response that are read, so that the connection can be used again. The content is ignored. */
const ANSWER_BYTES = 16_384;

/** The connections of a client for deliveries: the most to one server, and the time for a new one. */
export const DELIVERY_CONNECTIONS = { connections: 8, connectTimeoutMs: TIMEOUT_MS } as const;

export interface Delivered extends Pick<HttpQuestion, "method" | "headers" | "body"> {
  readonly url: URL;
}

/** Returns whether a status is one of success. */
export const isSuccess = (status: number): boolean => status >= 200 && status <= 299;

/**
 * Sends a message to a configured server. Returns undefined if its status is accepted, else the reason of the failure,
 * without address, credentials or secret. Does not follow redirects: the message is for one server only.
 */
export async function deliver(
  { client, clock }: { readonly client: HttpClient; readonly clock: Clock },
  { url, ...message }: Delivered,
  isAccepted: (status: number) => boolean,
  signal: AbortSignal,
): Promise<string | undefined> {
  const refusalOf = (status: number): string | undefined => (isAccepted(status) ? undefined : `status ${status}`);
  try {
    const untilMs = clock.monotonicNow() + TIMEOUT_MS;
    const question = { ...message, untilMs, limit: ANSWER_BYTES, server: "configured" } as const;
    return refusalOf((await client.request(url, question, signal)).status);
  } catch (error) {
    // The status decides the outcome, even if the body does not arrive.
    const isLate = error instanceof TooLate;
    if ((isLate || error instanceof BrokenAnswer) && error.status !== undefined) return refusalOf(error.status);
    if (isLate) return `no answer in ${TIMEOUT_MS / 1000} seconds`;
    // Messages of errors may contain the address, so only the code is reported.
    return signal.aborted ? "cancelled" : codeOf(error) || "the request failed";
  }
}
