/** The conditions of a query whose values were given, such as `["layer = ?", filter.layer]`; undefined is not asked for. */
export function conditionsOf(asked: readonly (readonly [condition: string, value: string | number | undefined])[]): {
  readonly where: string;
  readonly values: (string | number)[];
} {
  const given = asked.flatMap(([condition, value]) => (value === undefined ? [] : [{ condition, value }]));
  return {
    where: ["1 = 1", ...given.map(({ condition }) => condition)].join(" AND "),
    values: given.map(({ value }) => value),
  };
}
