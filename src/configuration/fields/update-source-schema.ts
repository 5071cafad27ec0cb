import * as z from "zod";
import { CHANGE_OPERATIONS } from "../../layer/update-source.ts";
import { repeats } from "../../lib/repeats.ts";
import { httpUrl, kinds, map, mimeType, oneOf, optional, someOf, text, unlessUnfit, whole, wrong } from "./fields.ts";

const MOST_THREADS = 128;
const DAY_SECONDS = 86_400;

const operation = oneOf(CHANGE_OPERATIONS)
  .default("truncate")
  .describe("`truncate` removes the changed tiles. `seed` and `reseed` also render them again.");

export const GeoRssSchema = map({
  type: z.literal("georss").describe("A GeoRSS feed."),
  url: text
    .refine((url) => httpUrl(url) !== undefined, unlessUnfit("an address with http:// or https://"))
    .describe("The address of the feed. {lastUpdate} in it is replaced by the time of the last entry."),
  gridSet: optional(text).describe(
    "The grid set whose tiles are truncated, and whose units the feed uses. Default: the first.",
  ),
  pollSeconds: whole(1, 366 * DAY_SECONDS).describe("The time from one poll to the next."),
  operation,
  format: optional(mimeType).describe("The format whose tiles are truncated. Default: all."),
  threadCount: whole(1, MOST_THREADS).default(1).describe("The tasks of each seed."),
  username: optional(text).describe("The name for HTTP Basic or Digest authentication."),
  password: optional(text).describe("The password for HTTP Basic or Digest authentication. It is not shown."),
});

const OutboxSchema = map({
  type: z.literal("postgres").describe("The outbox of a database, in which triggers write the changes."),
  database: text.describe("The id of the database in `databases`."),
  topics: someOf(text).describe("The topics of the rows that concern the layer, such as `public.roads`."),
  operation,
});

export const UpdateSourceSchema = kinds([GeoRssSchema, OutboxSchema]);

export type UpdateSourceDocument = z.output<typeof UpdateSourceSchema>;

export const UpdateSourcesSchema = someOf(UpdateSourceSchema).superRefine((sources, context) => {
  const urls = sources.map((source, i) => (source.type === "georss" ? source.url : i));
  for (const i of repeats(urls, (url) => url)) wrong(context, [i, "url"], "two feeds have this address");
});
