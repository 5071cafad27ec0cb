declare const brand: unique symbol;

/**
 * A primitive that cannot stand where the same primitive with another brand is expected. A value without a brand, such
 * as a literal or the result of arithmetic, may stand anywhere, so that a brand costs no casts. A brand tells what a
 * value is; that the value is valid is checked where it is parsed.
 */
export type Branded<Primitive extends number | bigint | string, Name extends string> = Primitive & {
  readonly [brand]?: Name;
};
