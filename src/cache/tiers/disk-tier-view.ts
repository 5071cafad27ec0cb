export interface DiskTierView {
  readonly tiles: number;
  readonly bytes: number;
  readonly limitBytes: number;
  readonly hits: number;
  readonly failures: number;
}

export interface StoreTierView extends DiskTierView {
  /** The id of the store. */
  readonly store: string;
}

/** Adds up the numbers of the tiers of several processes, by store. */
export function sumOfTiers(views: readonly StoreTierView[]): readonly StoreTierView[] {
  const sums = new Map<string, StoreTierView>();
  for (const one of views) {
    const sum = sums.get(one.store);
    sums.set(one.store, {
      store: one.store,
      tiles: one.tiles + (sum?.tiles ?? 0),
      bytes: one.bytes + (sum?.bytes ?? 0),
      limitBytes: one.limitBytes + (sum?.limitBytes ?? 0),
      hits: one.hits + (sum?.hits ?? 0),
      failures: one.failures + (sum?.failures ?? 0),
    });
  }
  return [...sums.values()];
}
