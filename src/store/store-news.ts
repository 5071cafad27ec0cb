/** A change of a remote store's availability that one process of a machine has found, for the other processes. */
export interface StoreNews {
  /** The id of the store. */
  readonly store: string;
  /** Why the store is unavailable. Null if it is available again. */
  readonly away: { readonly status: number; readonly code: string } | null;
}

/** Takes over the news of another process. */
export type TellStores = (news: StoreNews) => void;
