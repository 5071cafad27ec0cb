import type { UpdateSource } from "../../../layer/update-source.ts";
import { type Content, isMapNode, numberField, withoutUndefined } from "../content.ts";
import { type DocumentNode, itemsOf, list, type MapNode, map, textOf } from "../document-node.ts";

/** The placeholder in a feed's address: in GeoWebCache, and in the configuration file, where `${` begins a variable. */
const PLACEHOLDERS = ["$" + "{lastUpdate}", "{lastUpdate}"] as const;

/**
 * Returns the feeds of a layer in the form of the configuration file. Undefined if the layer has no feed that is
 * polled.
 */
export function updateSourceContents(node: MapNode): readonly Content[] | undefined {
  const feeds = itemsOf(node, "updateSources").flatMap((item): Content[] => {
    if (!isMapNode(item)) return [];
    const pollSeconds = numberField(item, "pollInterval");
    // GeoWebCache does not poll a feed without an interval.
    if (pollSeconds === undefined || Number.isNaN(pollSeconds) || pollSeconds < 1) return [];
    const operation = textOf(item, "operation")?.toLowerCase();
    return [
      withoutUndefined({
        type: "georss",
        url: (textOf(item, "feedUrl") ?? "").replaceAll(...PLACEHOLDERS),
        gridSet: textOf(item, "gridSetId") || undefined,
        pollSeconds,
        // GeoWebCache treats any other word as a truncate.
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

/** Returns why feeds are refused that a file may have but a request may not make. Undefined if they are accepted. */
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

/** Returns feeds as GeoWebCache's elements. Undefined if the layer has no feed. */
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

/** Converts a path in a feed of the configuration file to a path in GeoWebCache's document. */
export const updateSourcePath = (path: string): string =>
  path
    .replace(/^(updateSources\[\d+\])\.url$/, "$1.feedUrl")
    .replace(/^(updateSources\[\d+\])\.gridSet$/, "$1.gridSetId")
    .replace(/^(updateSources\[\d+\])\.pollSeconds$/, "$1.pollInterval")
    .replace(/^(updateSources\[\d+\])\.threadCount$/, "$1.seedingThreads")
    .replace(/^(updateSources\[\d+\])\.username$/, "$1.httpUsername")
    .replace(/^(updateSources\[\d+\])\.password$/, "$1.httpPassword");
