/** Returns a statement with `$1`, `$2` and so on in the places of its `?`, except in texts and quoted names. */
export function numbered(sql: string): string {
  let values = 0;
  return sql.replace(/'[^']*'|"[^"]*"|\?/g, (part) => (part === "?" ? `$${++values}` : part));
}
