/** The work that follows when a feed has news: the tiles there are truncated, and then seeded or not. */
export const FEED_OPERATIONS = ["truncate", "seed", "reseed"] as const;

/** A GeoRSS feed that tells where the data of a layer has changed (GeoWebCache's `geoRssFeed`). */
export interface UpdateSource {
  readonly type: "georss";
  /** `{lastUpdate}` in it is replaced by the time of the last entry that was taken over. */
  readonly url: string;
  /** The grid set whose tiles are truncated. The feed's coordinates are in its units, x first. */
  readonly gridSet: string;
  readonly pollSeconds: number;
  readonly operation: (typeof FEED_OPERATIONS)[number];
  /** MIME type. Absent: all formats of the layer. */
  readonly format?: string;
  /** The tasks of each seed. */
  readonly threadCount: number;
  readonly username?: string;
  readonly password?: string;
}
