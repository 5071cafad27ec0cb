declare const brand: unique symbol;

/** Empty in `src/`. `test/literals.d.ts` adds a member to it: tests may write a literal where a brand is expected. */
// biome-ignore lint/suspicious/noEmptyInterface: tests add the member.
export interface Literals {}

/**
 * A primitive with a brand, which names the meaning of the value. Where a brand is expected, the compiler rejects the
 * primitive without this brand. One function makes each brand (`asLayerName`, `asTileX`), where the value is read: from
 * the configuration, a request, a row of the database or a path of a store. A brand exists only in types.
 */
export type Branded<Primitive extends number | bigint | string, Name extends string> = Primitive &
  (keyof Literals extends never ? { readonly [brand]: Name } : { readonly [brand]?: Name });
