/** Returns the Levenshtein distance. Stores two rows at a time. */
function distance(a: string, b: string): number {
  let before = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, charA] of [...a].entries()) {
    const row = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (before[j] ?? 0) + (charA === b[j] ? 0 : 1);
      row.push(Math.min(replaced, (before[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1));
    }
    before = row;
  }
  return before.at(-1) ?? 0;
}

/** Returns the known name nearest to a misspelt one; undefined if none is near. Ignores case. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > 100) return undefined;
  const found = known
    .map((candidate) => ({ candidate, far: distance(name.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.far - b.far)[0];
  return found !== undefined && found.far <= Math.max(2, Math.floor(name.length / 3)) ? found.candidate : undefined;
}

export const unknownLayer = (name: string, known: readonly string[]): string =>
  `unknown layer ${JSON.stringify(name)}${didYouMean(name, known)}`;

/** Returns the name that a message with the end of `didYouMean` suggests; null if it suggests none. */
export const suggestionOf = (message: string): string | null =>
  /^.*; did you mean (.+?)\?(?: \(|$)/s.exec(message)?.[1] ?? null;

export const didYouMean = (name: string, known: readonly string[]): string => {
  const found = nearest(name, known);
  return found === undefined ? "" : `; did you mean ${found}?`;
};
