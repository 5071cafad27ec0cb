import * as z from "zod";
import { FEED_OPERATIONS } from "../../layer/update-source.ts";
import { repeats } from "../../lib/repeats.ts";
import { httpUrl, kinds, map, mimeType, oneOf, optional, someOf, text, unlessUnfit, whole, wrong } from "./fields.ts";

const MOST_THREADS = 128;
const DAY_SECONDS = 86_400;

export const GeoRssSchema = map({
  type: z.literal("georss").describe("A GeoRSS feed."),
  url: text
    .refine((url) => httpUrl(url) !== undefined, unlessUnfit("an address with http:// or https://"))
    .describe("The address of the feed. {lastUpdate} in it is replaced by the time of the last entry."),
  gridSet: optional(text).describe(
    "The grid set whose tiles are truncated, and whose units the feed uses. Default: the first.",
  ),
  pollSeconds: whole(1, 366 * DAY_SECONDS).describe("The time from one poll to the next."),
  operation: oneOf(FEED_OPERATIONS)
    .default("truncate")
    .describe("The operation after the truncation of the changed tiles."),
  format: optional(mimeType).describe("The format whose tiles are truncated. Default: all."),
  threadCount: whole(1, MOST_THREADS).default(1).describe("The tasks of each seed."),
  username: optional(text).describe("The name for HTTP Basic or Digest authentication."),
  password: optional(text).describe("The password for HTTP Basic or Digest authentication. It is not shown."),
});

const UpdateSourceSchema = kinds([GeoRssSchema]);

export type UpdateSourceDocument = z.output<typeof UpdateSourceSchema>;

export const UpdateSourcesSchema = someOf(UpdateSourceSchema).superRefine((sources, context) => {
  for (const i of repeats(sources, ({ url }) => url)) wrong(context, [i, "url"], "two feeds have this address");
});
