import type { RemoteAway, RemoteError } from "./remote-error.ts";

/** An object without its bytes. */
export interface ObjectHead {
  /** The version of the object, as conditions need it. */
  readonly etag: string;
  readonly bytes: number;
  /** The service's time of the write, ms since 1970, in whole seconds. */
  readonly modifiedMs: number;
  /** The MD5 of the bytes in hex. Undefined if the service does not tell it. */
  readonly md5: string | undefined;
  /** The metadata of the put. Names have letters in lower case and hyphens. */
  readonly metadata: Readonly<Record<string, string>>;
}

export interface StoredObject extends ObjectHead {
  readonly body: Uint8Array;
}

/** The condition of a put: the object does not exist, or it has this version. */
export type PutCondition = { readonly kind: "absent" } | { readonly kind: "same"; readonly etag: string };

export interface PutOptions {
  readonly contentType: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly condition?: PutCondition;
  /** Called right before each attempt. If it returns false, the attempt is not sent. */
  readonly guard?: () => boolean;
  /** Ends the put. Absent for a put that must finish once begun, such as the names of a truncation. */
  readonly signal?: AbortSignal;
}

/**
 * `changed`: the condition does not hold. `refused`: the guard returned false before the first attempt. `ended`: the
 * signal fired before the first attempt.
 */
export type PutResult =
  | { readonly kind: "stored"; readonly etag: string | undefined }
  | { readonly kind: "changed" }
  | { readonly kind: "refused" }
  | { readonly kind: "ended" };

export interface ListQuery {
  readonly prefix: string;
  readonly delimiter?: "/";
  /** Only keys after this key are listed. A bucket without `listsAfter` ignores it. */
  readonly startAfter?: string;
  readonly limit?: number;
}

/** An object in a listing. */
export interface ListedObject {
  readonly key: string;
  readonly bytes: number;
  readonly modifiedMs: number;
}

/** One page of a listing. Keys are in the order of their text. */
export interface ListPage {
  readonly objects: readonly ListedObject[];
  /** The common prefixes of keys, including the delimiter. */
  readonly prefixes: readonly string[];
  /** The token of the next page. Undefined on the last page. */
  readonly next: string | undefined;
}

/**
 * The objects of a service below the prefix of a store. Keys omit this prefix. While the service is unavailable all
 * operations fail at once.
 * @throws RemoteError
 */
export interface Bucket extends AsyncDisposable {
  /** Whether a listing can begin after a key. */
  readonly listsAfter: boolean;
  get(key: string): Promise<StoredObject | undefined>;
  head(key: string): Promise<ObjectHead | undefined>;
  /**
   * Stores an object, if the condition holds. After the signal no attempt is sent, and the last attempt has a second
   * for its answer.
   */
  put(key: string, body: Uint8Array, options: PutOptions): Promise<PutResult>;
  delete(key: string): Promise<void>;
  /**
   * Deletes objects. Keys that do not exist count as deleted. Tries again to delete objects whose failure may pass.
   * @returns the failures by key
   */
  deleteAll(keys: readonly string[]): Promise<ReadonlyMap<string, RemoteError>>;
  /** Yields the pages of a listing. A page may be empty. */
  list(query: ListQuery): AsyncGenerator<ListPage>;
  /** Checks that the bucket can be listed. */
  ask(): Promise<void>;
  /** Why the service is unavailable. Undefined if, to this process's knowledge, it is available. */
  readonly away: RemoteError | undefined;
  /**
   * Sets the function that is called with the failure when this bucket finds the service unavailable, and with
   * undefined when the service is available again.
   */
  onFound(found: (away: RemoteError | undefined) => void): void;
  /** Takes over from another process that the service is unavailable (with the failure), or available again. */
  tell(away: RemoteAway | undefined): void;
  /** The number of times that the keys or tokens of the account could not be obtained or renewed. */
  readonly failedRenewals: number;
  /** Returns the time by the service's clock, ms since 1970. */
  now(): number;
}

/** Opens the bucket of one store. */
export type OpenBucket = (pending: PendingOperations) => Bucket;

/**
 * The handling of operations without an answer when the service becomes unavailable: they wait until it is available,
 * or they fail.
 */
export type PendingOperations = "wait" | "fail";
