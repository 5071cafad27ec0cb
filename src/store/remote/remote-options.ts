/** The prefix of the keys that a remote store uses itself. No layer of such a store has this name. */
export const OWN_KEYS = "_nuthatch";

/** How a bucket is used, for every kind of remote store. */
export interface BucketOptions {
  /** The id of the store in the configuration, for messages. */
  readonly id: string;
  /** The prefix of all keys, without a slash at its ends; "" for no prefix. */
  readonly prefix: string;
  /** A file of trusted certificates in PEM form, which replace Node's list. */
  readonly caFile?: string;
  /** The address of a proxy. Absent: the proxies that the environment names. */
  readonly proxy?: string;
  /** The time limit in ms of one operation including all its attempts. */
  readonly timeoutMs: number;
  /** The most connections of a process. */
  readonly connections: number;
  /** The service refuses a put that arrives later than this many seconds after its beginning, if it can. */
  readonly putSeconds: number;
}

/** What the store of one process needs besides its bucket. */
export interface RemoteStoreParts {
  readonly id: string;
  readonly timeoutMs: number;
  /** A file on this machine with the names of the generations, which all processes of the server read. */
  readonly namesFile: string;
  /**
   * Whether this process and thread truncate and count (the coordinator). All other processes and threads only read and
   * write tiles.
   */
  readonly isOwner: boolean;
}

/** A store of tiles as objects of a service. Its account keys are secrets: no document, message or log shows them. */
export interface RemoteStoreConfiguration extends BucketOptions, Omit<RemoteStoreParts, "isOwner"> {
  /**
   * How requests for tiles that are not in memory are answered while the bucket is unreachable: with 503, or with a
   * render that is not stored.
   */
  readonly unavailable: "refuse" | "render";
  /** A cache of tiles on a local disk, in front of the bucket. */
  readonly diskTier?: DiskTierOptions;
}

export interface DiskTierOptions {
  /** An absolute path. */
  readonly path: string;
  /** The space in bytes that the tiles of all processes together may take. */
  readonly limitBytes: number;
}

/** Where a remote store has its tiles, without the prefix. */
export interface BucketPlace {
  /** Identifies the bucket. Two addresses of one service count as two services. */
  readonly key: string;
  /** The bucket in the location of a store, which names caches in the database. */
  readonly location: string;
  /** The bucket for operators, such as `s3://tiles`. */
  readonly url: string;
  /** The name of the bucket. */
  readonly bucket: string;
}
