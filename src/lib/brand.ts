declare const brand: unique symbol;

/** Empty in `src/`. `test/literals.d.ts` adds a member to it: tests may write a literal where a brand is expected. */
// biome-ignore lint/suspicious/noEmptyInterface: tests add the member.
export interface Literals {}

/**
 * A primitive that the compiler rejects where the same primitive without a brand, or with another one, is expected. A
 * brand names the meaning of a value. One function makes it (`layerName`, `tileX`), where the value is read: from the
 * configuration, a request, a row of the database or a path of a store. A brand is a type only.
 */
export type Branded<Primitive extends number | bigint | string, Name extends string> = Primitive &
  (keyof Literals extends never ? { readonly [brand]: Name } : { readonly [brand]?: Name });
