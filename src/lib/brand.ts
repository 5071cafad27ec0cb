declare const brand: unique symbol;

/**
 * A primitive that the compiler rejects where the same primitive with another brand is expected. A value without a
 * brand, such as a literal or the result of arithmetic, is accepted everywhere, so that a brand costs no casts. A brand
 * names the meaning of a value; the value itself is checked where it is parsed.
 */
export type Branded<Primitive extends number | bigint | string, Name extends string> = Primitive & {
  readonly [brand]?: Name;
};
