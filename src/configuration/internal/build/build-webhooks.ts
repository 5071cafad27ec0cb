import querystring from "node:querystring";
import { ENDS, type JobMoment, type Webhook, webhookId } from "../../../jobs/job-event.ts";
import type { WebhookDocument } from "../../fields/configuration-schema.ts";
import { httpUrl } from "../../fields/fields.ts";
import type { Problems } from "../read/problems.ts";

const momentsOf = (event: WebhookDocument["events"][number]): readonly JobMoment[] =>
  event === "ended" ? ENDS : [event];

/** Builds the webhooks. Problems never show an address, because many addresses contain a key. */
export function buildWebhooks(
  documents: readonly (WebhookDocument | undefined)[],
  problems: Problems,
): readonly Webhook[] {
  const webhooks = new Map<string, Webhook>();
  for (const [i, document] of documents.entries()) {
    const url = document === undefined ? undefined : httpUrl(document.url);
    if (document === undefined || url === undefined) continue;
    const credentials = `${querystring.unescape(url.username)}:${querystring.unescape(url.password)}`;
    url.username = "";
    url.password = "";
    url.hash = "";
    if (webhooks.has(url.href)) problems.add(["webhooks", i, "url"], "the same address is given twice");
    webhooks.set(url.href, {
      id: webhookId(url.href),
      url: url.href,
      ...(credentials === ":" ? {} : { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` }),
      events: [...new Set(document.events.flatMap(momentsOf))],
      layers: document.layers ?? null,
      secret: document.secret,
    });
  }
  return [...webhooks.values()];
}
