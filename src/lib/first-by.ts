/** Returns the first value of each key, in the order of the values. */
export function firstBy<K, V>(values: Iterable<V>, keyOf: (value: V) => K): ReadonlyMap<K, V> {
  const found = new Map<K, V>();
  for (const value of values) {
    const key = keyOf(value);
    if (!found.has(key)) found.set(key, value);
  }
  return found;
}
