import { createHmac } from "node:crypto";
import type { Webhook } from "../jobs/job-event.ts";
import { codeOf } from "../lib/error-code.ts";
import { HttpClient } from "../lib/http/http-client.ts";
import { BrokenAnswer, TooLate } from "../lib/http/http-failure.ts";
import { ownVersion } from "../lib/process/version.ts";
import type { Clock } from "../lib/time/clock.ts";
import { isoTime } from "../lib/time/iso-time.ts";
import type { Delivery } from "./webhook-outbox.ts";

const TIMEOUT_MS = 10_000;
/** Bytes of a response that are read, so that the connection can be used again. The content is ignored. */
const ANSWER_BYTES = 16_384;
/** The most connections to one server. */
const CONNECTIONS = 8;

/** Sends deliveries to webhooks. */
export interface WebhookPost extends AsyncDisposable {
  /**
   * Sends a delivery. Returns undefined if the receiver answers with a status of 200 to 299, else the reason of the
   * failure, without address, credentials or secret. Does not follow redirects: the signature is for one server only.
   */
  send(webhook: Webhook, delivery: Delivery, sentMs: number, signal: AbortSignal): Promise<string | undefined>;
}

/** Returns `sha256=` and the HMAC of the body in hexadecimal digits, the form that GitHub uses. */
const signatureOf = (body: string, secret: string): string =>
  `sha256=${createHmac("sha256", secret).update(body, "utf8").digest("hex")}`;

const messageOf = ({ id, event, job }: Delivery, sentMs: number): string =>
  `{"id":${JSON.stringify(id)},"event":${JSON.stringify(event)},"sentAt":"${isoTime(sentMs)}","job":${job}}`;

const refusalOf = (status: number): string | undefined =>
  status >= 200 && status <= 299 ? undefined : `status ${status}`;

export function createWebhookPost(clock: Clock): WebhookPost {
  const client = new HttpClient({ connections: CONNECTIONS, connectTimeoutMs: TIMEOUT_MS });
  const userAgent = `Nuthatch/${ownVersion()}`;
  return {
    async send(webhook, delivery, sentMs, signal) {
      const body = messageOf(delivery, sentMs);
      const headers = {
        "content-type": "application/json",
        "user-agent": userAgent,
        "x-nuthatch-event": delivery.event,
        "x-nuthatch-delivery": delivery.id,
        "x-nuthatch-signature": signatureOf(body, webhook.secret),
        ...(webhook.authorization === undefined ? {} : { authorization: webhook.authorization }),
      };
      try {
        const untilMs = clock.monotonicNow() + TIMEOUT_MS;
        const question = { method: "POST", headers, body, untilMs, limit: ANSWER_BYTES, server: "configured" } as const;
        return refusalOf((await client.request(new URL(webhook.url), question, signal)).status);
      } catch (error) {
        // The status decides the outcome, even if the body does not arrive.
        const isLate = error instanceof TooLate;
        if ((isLate || error instanceof BrokenAnswer) && error.status !== undefined) return refusalOf(error.status);
        if (isLate) return `no answer in ${TIMEOUT_MS / 1000} seconds`;
        // Messages of errors may contain the address, so only the code is reported.
        return signal.aborted ? "cancelled" : codeOf(error) || "the request failed";
      }
    },
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}
