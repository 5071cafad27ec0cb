/** What one process of a machine has found out about a remote store, for the others. */
export interface StoreNews {
  /** The id of the store. */
  readonly store: string;
  /** Why the store is away; null: it is back. */
  readonly away: { readonly status: number; readonly code: string } | null;
}

/** Takes over what another process has found out. */
export type TellStores = (news: StoreNews) => void;
