/** Returns a statement with its `?` replaced by `$1`, `$2` and so on, except in string literals and quoted names. */
export function numbered(sql: string): string {
  let values = 0;
  return sql.replace(/'[^']*'|"[^"]*"|\?/g, (part) => (part === "?" ? `$${++values}` : part));
}
