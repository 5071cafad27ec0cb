import { WebhookOutbox } from "../webhook/webhook-outbox.ts";
import { createWebhookPost } from "../webhook/webhook-post.ts";
import { Webhooks } from "../webhook/webhooks.ts";
import type { BuildContext } from "./coordinator-parts.ts";

/** Builds the deliveries of job events to webhooks. */
export const buildWebhooks = ({ db, webhooks, state, now, monotonicNow, random, log }: BuildContext): Webhooks =>
  new Webhooks({
    outbox: new WebhookOutbox(db),
    webhooks,
    post: createWebhookPost(),
    transaction: (body) => db.transaction(body),
    onRollback: (undo) => db.onRollback(undo),
    fault: (error) => state.fault(error),
    now,
    monotonicNow,
    random,
    log,
  });
