import type { GridSetName } from "../grid/grid-set.ts";

/** How the server handles an entry of a feed: it truncates the tiles there, and then seeds them or not. */
export const FEED_OPERATIONS = ["truncate", "seed", "reseed"] as const;
export type FeedOperation = (typeof FEED_OPERATIONS)[number];

/**
 * How the server handles a change of the data: it truncates the tiles there, or makes them stale, so that they are
 * served and rendered again on use (`soft`) or by a job (`seed`, `reseed`).
 */
export const CHANGE_OPERATIONS = ["truncate", "soft", "seed", "reseed"] as const;
export type ChangeOperation = (typeof CHANGE_OPERATIONS)[number];

/** A GeoRSS feed that reports where the data of a layer has changed (GeoWebCache's `geoRssFeed`). */
export interface FeedSource {
  readonly type: "georss";
  /** The address of the feed. `{lastUpdate}` is replaced by the time of the last entry that was processed. */
  readonly url: string;
  /** The grid set whose tiles are truncated. The feed's coordinates are in the grid set's units, x first. */
  readonly gridSet: GridSetName;
  readonly pollSeconds: number;
  readonly operation: FeedOperation;
  /** MIME type. Absent: all formats of the layer. */
  readonly format?: string;
  /** The number of tasks of each seed. */
  readonly threadCount: number;
  readonly username?: string;
  readonly password?: string;
}

/** The outbox of a database: triggers write a row for each change of the data. */
export interface OutboxSource {
  readonly type: "postgres";
  /** The id of the database in `databases`. */
  readonly database: string;
  /** The topics of the rows that concern the layer. At least one. */
  readonly topics: readonly string[];
  readonly operation: ChangeOperation;
}

/** Lists of expired tiles that a program such as osm2pgsql or imposm writes into a directory. */
export interface TileListSource {
  readonly type: "tileLists";
  /** The directory of the lists, an absolute path. */
  readonly directory: string;
  /** The grid set of the lines `z/x/y`. Rows are counted from the top. */
  readonly gridSet: GridSetName;
  readonly operation: ChangeOperation;
}

/** Files whose change is a change of all data of the layer. */
export interface FilesSource {
  readonly type: "files";
  /** Absolute paths of files or directories. At least one. */
  readonly paths: readonly string[];
  /** A file has changed when it has not changed any more for this time. */
  readonly settleSeconds: number;
  readonly operation: ChangeOperation;
}

/** A source that reports where the data of a layer has changed. */
export type UpdateSource = FeedSource | OutboxSource | TileListSource | FilesSource;

/** Returns whether tiles of a layer may be marked as stale one by one, so that their times must be looked at. */
export const mayBeMarked = ({ updateSources }: { readonly updateSources?: readonly UpdateSource[] }): boolean =>
  updateSources?.some(
    ({ type, operation }) => (type === "postgres" || type === "tileLists") && operation !== "truncate",
  ) ?? false;
