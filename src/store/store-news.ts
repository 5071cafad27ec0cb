/**
 * A change of a store's availability that one process of a machine has found, for the other processes. Of a store in a
 * directory they learn only that it is available again: each of them finds out for itself that it is not.
 */
export interface StoreNews {
  /** The id of the store. */
  readonly store: string;
  /** Why the store is unavailable. Null if it is available again. */
  readonly away: { readonly status: number; readonly code: string } | null;
}

/** Takes over the news of another process. */
export type TellStores = (news: StoreNews) => void;
