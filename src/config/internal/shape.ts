import { isMap } from "../../lib/is-map.ts";

/**
 * Describes the shapes of the configuration file as data, from which TypeScript types follow. It has only the dozen
 * kinds that the file needs. A schema library does the same with 679 modules, which cost every start 200 ms and 20 MiB.
 */
export type Shape = TString | TNumber | TBoolean | TLiteral | TEnum | TArray | TTuple | TRecord | TObject | TUnion;

interface StringLimits {
  readonly minLength?: number;
}
interface NumberLimits {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
}
interface ArrayLimits {
  readonly minItems?: number;
}
export type Fields = Readonly<Record<string, Shape>>;

interface TString extends StringLimits {
  readonly kind: "string";
}
interface TNumber extends NumberLimits {
  readonly kind: "number" | "integer";
}
interface TBoolean {
  readonly kind: "boolean";
}
interface TLiteral {
  readonly kind: "literal";
  readonly const: string;
}
interface TEnum {
  readonly kind: "enum";
  readonly enum: readonly string[];
}
interface TArray extends ArrayLimits {
  readonly kind: "array";
  readonly items: Shape;
}
interface TTuple {
  readonly kind: "tuple";
  readonly items: readonly Shape[];
}
interface TRecord {
  readonly kind: "record";
  readonly values: Shape;
}
/** A map that allows only these keys. */
interface TObject {
  readonly kind: "object";
  readonly properties: Fields;
  readonly required: readonly string[];
}
interface TUnion {
  readonly kind: "union";
  readonly anyOf: readonly Shape[];
}
interface Optional {
  readonly optional: true;
}
/** Carries the type of a fitting value. The field does not exist at run time. */
interface Typed<T> {
  readonly fitting?: { readonly type: T };
}

/** The type of a value that fits a shape. */
export type Static<S> = S extends { readonly fitting?: { readonly type: infer T } } ? T : unknown;

type OptionalKeys<F> = { [K in keyof F]: F[K] extends Optional ? K : never }[keyof F];
type Fielded<F> = { [K in Exclude<keyof F, OptionalKeys<F>>]: Static<F[K]> } & {
  [K in OptionalKeys<F>]?: Static<F[K]>;
};

export const Type = {
  String: (limits: StringLimits = {}): TString & Typed<string> => ({ kind: "string", ...limits }),
  Number: (limits: NumberLimits = {}): TNumber & Typed<number> => ({ kind: "number", ...limits }),
  Integer: (limits: NumberLimits = {}): TNumber & Typed<number> => ({ kind: "integer", ...limits }),
  Boolean: (): TBoolean & Typed<boolean> => ({ kind: "boolean" }),
  Literal: <const V extends string>(value: V): TLiteral & Typed<V> => ({ kind: "literal", const: value }),
  Enum: <const V extends string>(values: readonly V[]): TEnum & Typed<V> => ({ kind: "enum", enum: values }),
  Array: <I extends Shape>(items: I, limits: ArrayLimits = {}): TArray & Typed<Static<I>[]> => ({
    kind: "array",
    items,
    ...limits,
  }),
  Tuple: <const I extends readonly Shape[]>(items: I): TTuple & Typed<{ -readonly [K in keyof I]: Static<I[K]> }> => ({
    kind: "tuple",
    items,
  }),
  Record: <V extends Shape>(values: V): TRecord & Typed<Record<string, Static<V>>> => ({ kind: "record", values }),
  Union: <const M extends readonly Shape[]>(anyOf: M): TUnion & Typed<Static<M[number]>> => ({ kind: "union", anyOf }),
  Object: <F extends Fields>(properties: F): TObject & Typed<{ [K in keyof Fielded<F>]: Fielded<F>[K] }> => ({
    kind: "object",
    properties,
    required: Object.keys(properties).filter((key) => !("optional" in (properties[key] ?? {}))),
  }),
  Optional: <S extends Shape>(shape: S): S & Optional => ({ ...shape, optional: true }),
};

/** Returns whether a value fits a shape. */
export const fits = <S extends Shape>(shape: S, value: unknown): value is Static<S> => accepts(shape, value);

/** Returns whether a value fits a shape whose type is not known statically. */
export function accepts(s: Shape, value: unknown): boolean {
  switch (s.kind) {
    case "string":
      return typeof value === "string" && value.length >= (s.minLength ?? 0);
    case "number":
    case "integer":
      return (
        typeof value === "number" &&
        (s.kind === "integer" ? Number.isInteger(value) : Number.isFinite(value)) &&
        value >= (s.minimum ?? Number.NEGATIVE_INFINITY) &&
        value <= (s.maximum ?? Number.POSITIVE_INFINITY) &&
        value > (s.exclusiveMinimum ?? Number.NEGATIVE_INFINITY)
      );
    case "boolean":
      return typeof value === "boolean";
    case "literal":
      return value === s.const;
    case "enum":
      return s.enum.some((one) => one === value);
    case "array":
      return Array.isArray(value) && value.length >= (s.minItems ?? 0) && value.every((item) => accepts(s.items, item));
    case "tuple":
      return (
        Array.isArray(value) && value.length === s.items.length && s.items.every((item, i) => accepts(item, value[i]))
      );
    case "record":
      return isMap(value) && Object.values(value).every((item) => accepts(s.values, item));
    case "object":
      return (
        isMap(value) &&
        s.required.every((key) => Object.hasOwn(value, key)) &&
        Object.entries(value).every(([key, item]) => {
          const field = Object.hasOwn(s.properties, key) ? s.properties[key] : undefined;
          return field !== undefined && accepts(field, item);
        })
      );
    case "union":
      return s.anyOf.some((member) => accepts(member, value));
  }
}
