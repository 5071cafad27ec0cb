/** Wraps a function of an immutable object so that it computes the result once per object. */
export function onceEach<K extends object, V extends NonNullable<unknown>>(workOut: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, V>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const value = workOut(key);
    known.set(key, value);
    return value;
  };
}
