import querystring from "node:querystring";
import { ENDS, type JobMoment, type Webhook, webhookId } from "../../jobs/job-event.ts";
import { unknownLayer } from "./nearest.ts";
import type { Path, Problems } from "./problems.ts";
import type { WebhookDocument } from "./schema/configuration-schema.ts";
import { httpUrl } from "./schema/fields.ts";

const momentsOf = (event: WebhookDocument["events"][number]): readonly JobMoment[] =>
  event === "ended" ? ENDS : [event];

/**
 * Builds the webhooks. Problems never show an address, because many addresses contain a key.
 * @param layers the names of the layers; undefined if the layers have problems themselves
 */
export function buildWebhooks(
  documents: readonly (WebhookDocument | undefined)[],
  layers: readonly string[] | undefined,
  at: Path,
  problems: Problems,
): readonly Webhook[] {
  const webhooks = new Map<string, Webhook>();
  for (const [i, document] of documents.entries()) {
    if (document === undefined) continue;
    const path = [...at, i];
    for (const [n, name] of (document.layers ?? []).entries())
      if (layers?.includes(name) === false) problems.add([...path, "layers", n], unknownLayer(name, layers));
    const url = httpUrl(document.url);
    if (url === undefined) continue;
    const credentials = `${querystring.unescape(url.username)}:${querystring.unescape(url.password)}`;
    url.username = "";
    url.password = "";
    url.hash = "";
    if (webhooks.has(url.href)) problems.add([...path, "url"], "the same address is given twice");
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
