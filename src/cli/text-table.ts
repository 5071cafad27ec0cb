const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

/** Bytes for people: `1.5 GiB`. */
export function bytesText(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 ? value : value.toFixed(value < 10 ? 2 : 1)} ${UNITS[power]}`;
}

/** Columns two blanks apart; numbers, and what begins like one, to the right. */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const right = head.map((_, column) => rows.length > 0 && rows.every((row) => /^(-|\d|$)/.test(row[column] ?? "")));
  return all
    .map((row) =>
      row
        .map((text, column) => (right[column] ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0)))
        .join("  ")
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join("");
}
