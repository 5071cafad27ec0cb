import type { GridSetName } from "../grid/grid-set.ts";

/** How the server handles a change that a feed reports: it truncates the tiles there, and then seeds them or not. */
export const FEED_OPERATIONS = ["truncate", "seed", "reseed"] as const;

/** A GeoRSS feed that reports where the data of a layer has changed (GeoWebCache's `geoRssFeed`). */
export interface UpdateSource {
  readonly type: "georss";
  /** The address of the feed. `{lastUpdate}` is replaced by the time of the last entry that was processed. */
  readonly url: string;
  /** The grid set whose tiles are truncated. The feed's coordinates are in the grid set's units, x first. */
  readonly gridSet: GridSetName;
  readonly pollSeconds: number;
  readonly operation: (typeof FEED_OPERATIONS)[number];
  /** MIME type. Absent: all formats of the layer. */
  readonly format?: string;
  /** The number of tasks of each seed. */
  readonly threadCount: number;
  readonly username?: string;
  readonly password?: string;
}
