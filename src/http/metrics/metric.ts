import { Counter, Gauge } from "prom-client";

export type Labels = Readonly<Record<string, string>>;
export type Values = readonly (readonly [labels: Labels, value: number | bigint])[];

export interface Metric {
  readonly Kind: typeof Counter | typeof Gauge;
  readonly name: string;
  readonly help: string;
  readonly values: Values;
}

/** Returns the values of a metric. A number is the value of a metric without labels. */
const valuesOf = (values: Values | number | bigint): Values => (typeof values === "object" ? values : [[{}, values]]);

/** Returns a metric that only increases. */
export const counter = (name: string, help: string, values: Values | number | bigint): Metric => ({
  Kind: Counter,
  name,
  help,
  values: valuesOf(values),
});
/** Returns a metric that increases and decreases. */
export const gauge = (name: string, help: string, values: Values | number | bigint): Metric => ({
  ...counter(name, help, values),
  Kind: Gauge,
});

/** Returns one value of each item. `labels` are the members that are labels. */
export const each = <L extends string, V extends string>(
  items: readonly Readonly<Record<L, string> & Record<V, number | bigint>>[],
  labels: readonly L[],
  value: V,
): Values => items.map((item) => [Object.fromEntries(labels.map((label) => [label, item[label]])), item[value]]);
