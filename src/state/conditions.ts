/**
 * Returns the SQL conditions whose values are given, such as `["layer = ?", filter.layer]`. Omits a condition whose
 * value is undefined.
 */
export function conditionsOf(
  requested: readonly (readonly [condition: string, value: string | number | undefined])[],
): {
  readonly where: string;
  readonly values: (string | number)[];
} {
  const given = requested.flatMap(([condition, value]) => (value === undefined ? [] : [{ condition, value }]));
  return {
    where: ["1 = 1", ...given.map(({ condition }) => condition)].join(" AND "),
    values: given.map(({ value }) => value),
  };
}
