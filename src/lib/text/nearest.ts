/** Longer names are not compared. */
const LONGEST = 100;
/** The most comparisons of two characters in one search, which take some milliseconds, however many names there are. */
const MOST_COMPARISONS = 200_000;

/**
 * Returns the Levenshtein distance if it is at most `most`, else a greater number. Stores only two rows of the matrix.
 */
function distance(a: string, b: string, most: number): number {
  let before = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, charA] of [...a].entries()) {
    const row = [i + 1];
    let least = i + 1;
    for (let j = 0; j < b.length; j++) {
      const replaced = (before[j] ?? 0) + (charA === b[j] ? 0 : 1);
      const cell = Math.min(replaced, (before[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1);
      row.push(cell);
      least = Math.min(least, cell);
    }
    // No later row has a smaller number.
    if (least > most) return least;
    before = row;
  }
  return before.at(-1) ?? 0;
}

/**
 * Returns the known name nearest to a misspelt one. Undefined if no name is near. Ignores case. The cost is bounded: of
 * very many names only the first ones are compared.
 */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  if (name.length > LONGEST) return undefined;
  const sought = name.toLowerCase();
  let most = Math.max(2, Math.floor(name.length / 3));
  let comparisons = 0;
  let found: string | undefined;
  for (const candidate of known) {
    // Each candidate counts, even one that is skipped.
    comparisons++;
    if (comparisons > MOST_COMPARISONS) break;
    if (Math.abs(candidate.length - sought.length) > most) continue;
    comparisons += sought.length * candidate.length;
    const far = distance(sought, candidate.toLowerCase(), most);
    if (far > most) continue;
    found = candidate;
    most = far - 1;
    if (far === 0) break;
  }
  return found;
}

export const unknownLayer = (name: string, known: Iterable<string>): string =>
  `unknown layer ${JSON.stringify(name)}${didYouMean(name, known)}`;

/** Returns the name that a message with the end of `didYouMean` suggests. Null if it suggests no name. */
export const suggestionOf = (message: string): string | null =>
  /^.*; did you mean (.+?)\?(?: \(|$)/s.exec(message)?.[1] ?? null;

export const didYouMean = (name: string, known: Iterable<string>): string => {
  const found = nearest(name, known);
  return found === undefined ? "" : `; did you mean ${found}?`;
};
