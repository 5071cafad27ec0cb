import { createHmac } from "node:crypto";
import type { Agent } from "undici";
import { codeOf } from "../lib/error-code.ts";
import { isoTime } from "../lib/iso-time.ts";
import { ownVersion } from "../lib/version.ts";
import type { Webhook } from "./webhook.ts";
import type { Delivery } from "./webhook-outbox.ts";

const TIMEOUT_MS = 10_000;
/** What is read of an answer, so that its connection can be used again; nothing of it is looked at. */
const ANSWER_BYTES = 16_384;

/** Tells a webhook something. */
export interface WebhookPost extends AsyncDisposable {
  /**
   * Undefined: it has taken it, with any status of 200 to 299. Else why not, without address, credentials or secret. It is
   * not followed to another place: what is signed for one server is not for another.
   */
  send(webhook: Webhook, delivery: Delivery, sentMs: number, signal: AbortSignal): Promise<string | undefined>;
}

/** `sha256=` and the HMAC of the body, in hexadecimal digits, as GitHub and others sign theirs. */
const signatureOf = (body: string, secret: string): string =>
  `sha256=${createHmac("sha256", secret).update(body, "utf8").digest("hex")}`;

const bodyOf = ({ id, event, job }: Delivery, sentMs: number): string =>
  `{"id":${JSON.stringify(id)},"event":${JSON.stringify(event)},"sentAt":"${isoTime(sentMs)}","job":${job}}`;

export function createWebhookPost(): WebhookPost {
  let agent: Agent | undefined;
  const userAgent = `Nuthatch/${ownVersion()}`;
  return {
    async send(webhook, delivery, sentMs, signal) {
      // Loaded by the first delivery: most servers have no webhooks, and a start is not slowed by what they do not need.
      // By its default: a package in CommonJS form that is imported late has no other name once it is bundled.
      const { default: undici } = await import("undici");
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(), TIMEOUT_MS);
      try {
        agent ??= new undici.Agent({ connect: { timeout: TIMEOUT_MS }, pipelining: 1 });
        const body = bodyOf(delivery, sentMs);
        const answer = await undici.request(webhook.url, {
          method: "POST",
          dispatcher: agent,
          signal: AbortSignal.any([signal, late.signal]),
          headers: {
            "content-type": "application/json",
            "user-agent": userAgent,
            "x-nuthatch-event": delivery.event,
            "x-nuthatch-delivery": delivery.id,
            "x-nuthatch-signature": signatureOf(body, webhook.secret),
            ...(webhook.authorization === undefined ? {} : { authorization: webhook.authorization }),
          },
          body,
        });
        // The status has told all; that the rest does not come changes nothing.
        await answer.body.dump({ limit: ANSWER_BYTES }).catch(() => undefined);
        const { statusCode } = answer;
        return statusCode >= 200 && statusCode <= 299 ? undefined : `status ${statusCode}`;
      } catch (error) {
        if (late.signal.aborted) return `no answer in ${TIMEOUT_MS / 1000} seconds`;
        // Messages of errors may repeat the address.
        return signal.aborted ? "cancelled" : codeOf(error) || "the request failed";
      } finally {
        clearTimeout(timer);
      }
    },
    async [Symbol.asyncDispose]() {
      await agent?.destroy();
    },
  };
}
