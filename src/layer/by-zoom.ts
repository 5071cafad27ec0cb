import type { Zoom } from "../grid/grid-set.ts";

export interface ZoomRule<T> {
  readonly minZoom: number;
  readonly value: T;
}

/**
 * Rules in ascending order of zoom; the first begins at zoom 0. A level uses the last rule that begins at that level or
 * before (GWC's `expirationRule`).
 */
export type ByZoom<T> = readonly [ZoomRule<T>, ...ZoomRule<T>[]];

export const atEveryZoom = <T>(value: T): ByZoom<T> => [{ minZoom: 0, value }];

export function valueAt<T>(rules: ByZoom<T>, z: Zoom): T {
  let [{ value }] = rules;
  for (const rule of rules) {
    if (rule.minZoom > z) break;
    ({ value } = rule);
  }
  return value;
}
