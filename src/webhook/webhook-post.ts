import { createHmac } from "node:crypto";
import type { Webhook } from "../jobs/job-event.ts";
import { DELIVERY_CONNECTIONS, deliver, isSuccess } from "../lib/http/deliver.ts";
import { HttpClient } from "../lib/http/http-client.ts";
import { ownVersion } from "../lib/process/version.ts";
import type { Clock } from "../lib/time/clock.ts";
import { isoTime } from "../lib/time/iso-time.ts";
import type { Delivery } from "./webhook-outbox.ts";

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

export function createWebhookPost(clock: Clock): WebhookPost {
  const client = new HttpClient(DELIVERY_CONNECTIONS);
  const userAgent = `Nuthatch/${ownVersion()}`;
  return {
    send(webhook, delivery, sentMs, signal) {
      const body = messageOf(delivery, sentMs);
      const headers = {
        "content-type": "application/json",
        "user-agent": userAgent,
        "x-nuthatch-event": delivery.event,
        "x-nuthatch-delivery": delivery.id,
        "x-nuthatch-signature": signatureOf(body, webhook.secret),
        ...(webhook.authorization === undefined ? {} : { authorization: webhook.authorization }),
      };
      const message = { url: new URL(webhook.url), method: "POST", headers, body } as const;
      return deliver({ client, clock }, message, isSuccess, signal);
    },
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}
