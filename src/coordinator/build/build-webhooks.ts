import { WebhookOutbox } from "../../webhook/webhook-outbox.ts";
import { createWebhookPost } from "../../webhook/webhook-post.ts";
import { Webhooks } from "../../webhook/webhooks.ts";
import type { BuildContext } from "../coordinator-parts.ts";

/** Builds the deliveries of job events to webhooks. */
export const buildWebhooks = (context: BuildContext): Webhooks =>
  new Webhooks({
    ...context,
    outbox: new WebhookOutbox(context.db),
    post: createWebhookPost(context.clock),
    transaction: (body) => context.db.transaction(body),
    onRollback: (undo) => context.db.onRollback(undo),
    fault: (error) => context.state.fault(error),
  });
