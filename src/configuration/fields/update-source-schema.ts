import * as z from "zod";
import { CHANGE_OPERATIONS, FEED_OPERATIONS } from "../../layer/update-source.ts";
import { repeats } from "../../lib/repeats.ts";
import { httpUrl, kinds, map, mimeType, oneOf, optional, someOf, text, unlessUnfit, whole, wrong } from "./fields.ts";

const MOST_THREADS = 128;
const DAY_SECONDS = 86_400;

const operation = oneOf(CHANGE_OPERATIONS)
  .default("truncate")
  .describe(
    "`truncate` removes the changed tiles. `soft` makes them stale: they are served, and rendered again on use. `seed` and `reseed` make them stale and render them by a job.",
  );

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
    .describe("`truncate` removes the changed tiles. `seed` and `reseed` also render them again."),
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

const TileListsSchema = map({
  type: z.literal("tileLists").describe("Lists of expired tiles, as osm2pgsql and imposm write them."),
  directory: text.describe("The directory of the lists. Lists in its subdirectories are read, too."),
  gridSet: optional(text).describe(
    "The grid set of the lines `z/x/y`, with the rows counted from the top. Default: EPSG:900913, or the first.",
  ),
  operation,
});

const FilesSchema = map({
  type: z.literal("files").describe("Files whose change is a change of all data of the layer."),
  paths: someOf(text).describe("Files or directories, such as an archive, or the map file of MapServer."),
  settleSeconds: whole(0, 3_600)
    .default(5)
    .describe("The time for which a file must not change any more before the change has an effect."),
  operation,
});

export const UpdateSourceSchema = kinds([GeoRssSchema, OutboxSchema, TileListsSchema, FilesSchema]);

export type UpdateSourceDocument = z.output<typeof UpdateSourceSchema>;

export const UpdateSourcesSchema = someOf(UpdateSourceSchema).superRefine((sources, context) => {
  const urls = sources.map((source, i) => (source.type === "georss" ? source.url : i));
  for (const i of repeats(urls, (url) => url)) wrong(context, [i, "url"], "two feeds have this address");
});
