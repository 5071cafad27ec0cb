/** Returns the indexes of the items that have the key of an earlier item. */
export function repeats<T>(items: readonly T[], keyOf: (item: T) => unknown): ReadonlySet<number> {
  const keys = new Set<unknown>();
  const found = new Set<number>();
  for (const [i, item] of items.entries()) {
    const key = keyOf(item);
    if (keys.has(key)) found.add(i);
    keys.add(key);
  }
  return found;
}
