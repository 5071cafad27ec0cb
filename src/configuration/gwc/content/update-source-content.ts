import type { UpdateSource } from "../../../layer/update-source.ts";
import { type Content, isMapNode, numberField, withoutUndefined } from "../content.ts";
import { type DocumentNode, itemsOf, list, type MapNode, map, textOf } from "../document-node.ts";

/** The placeholder in the address of a feed: here, and in the configuration file, where `${` begins a variable. */
const PLACEHOLDERS = ["$" + "{lastUpdate}", "{lastUpdate}"] as const;

/** Returns the feeds of a layer as the configuration file has them; undefined: there is none that is polled. */
export function updateSourceContents(node: MapNode): readonly Content[] | undefined {
  const feeds = itemsOf(node, "updateSources").flatMap((item): Content[] => {
    if (!isMapNode(item)) return [];
    const pollSeconds = numberField(item, "pollInterval");
    // GeoWebCache polls no feed without an interval.
    if (pollSeconds === undefined || Number.isNaN(pollSeconds) || pollSeconds < 1) return [];
    const operation = textOf(item, "operation")?.toLowerCase();
    return [
      withoutUndefined({
        type: "georss",
        url: (textOf(item, "feedUrl") ?? "").replaceAll(...PLACEHOLDERS),
        gridSet: textOf(item, "gridSetId") || undefined,
        pollSeconds,
        // Any other word is a truncate in GeoWebCache.
        operation: operation === "seed" || operation === "reseed" ? operation : undefined,
        format: textOf(item, "format") || undefined,
        threadCount: numberField(item, "seedingThreads"),
        username: textOf(item, "httpUsername") || undefined,
        password: textOf(item, "httpPassword") || undefined,
      }),
    ];
  });
  return feeds.length === 0 ? undefined : feeds;
}

/** Returns why feeds that are put over HTTP are refused although a file may have them; undefined: they are not. */
export function updateSourceFault(node: MapNode): string | undefined {
  for (const [i, item] of itemsOf(node, "updateSources").entries()) {
    if (!isMapNode(item)) continue;
    const interval = textOf(item, "pollInterval") ?? "-1";
    if (!/^-1$|^\d{1,9}$/.test(interval))
      return `updateSources[${i}].pollInterval: expected seconds, or -1, got ${JSON.stringify(interval)}`;
    const operation = textOf(item, "operation") ?? "truncate";
    if (!/^(?:truncate|seed|reseed)$/i.test(operation))
      return `updateSources[${i}].operation: expected truncate, seed or reseed, got ${JSON.stringify(operation)}`;
  }
  return undefined;
}

/** Returns feeds as GeoWebCache's elements; undefined: there is none. */
export function updateSourceNodes(sources: readonly UpdateSource[] | undefined): DocumentNode | undefined {
  const [there, here] = PLACEHOLDERS;
  return (
    sources &&
    list(
      "geoRssFeed",
      sources.map(({ url, gridSet, pollSeconds, operation, format, threadCount, username, password }) =>
        map([
          ["feedUrl", url.replaceAll(here, () => there)],
          ["gridSetId", gridSet],
          ["pollInterval", String(pollSeconds)],
          ["operation", operation],
          ["format", format],
          ["seedingThreads", threadCount],
          ["httpUsername", username],
          ["httpPassword", password],
        ]),
      ),
    )
  );
}

/** Returns a path of a feed of the configuration file as a path of GeoWebCache's document. */
export const updateSourcePath = (path: string): string =>
  path
    .replace(/^(updateSources\[\d+\])\.url$/, "$1.feedUrl")
    .replace(/^(updateSources\[\d+\])\.gridSet$/, "$1.gridSetId")
    .replace(/^(updateSources\[\d+\])\.pollSeconds$/, "$1.pollInterval")
    .replace(/^(updateSources\[\d+\])\.threadCount$/, "$1.seedingThreads")
    .replace(/^(updateSources\[\d+\])\.username$/, "$1.httpUsername")
    .replace(/^(updateSources\[\d+\])\.password$/, "$1.httpPassword");
