type Defined<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

/** Returns an object without its undefined members. */
export function defined<T extends object>(fields: T): Defined<T>;
export function defined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
