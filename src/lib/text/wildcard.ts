/**
 * Returns a function that tells whether a text matches a pattern. A `*` in the pattern matches any number of
 * characters, including zero. The pattern is parsed once.
 */
export function wildcard(pattern: string): (text: string) => boolean {
  const [first = "", ...others] = pattern.split(/\*+/);
  const last = others.pop();
  if (last === undefined) return (text) => text === pattern;
  return (text) => {
    if (!text.startsWith(first)) return false;
    // Each part is matched at its first position. A regular expression with many stars would try all positions.
    let at = first.length;
    for (const part of others) {
      const found = text.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return text.length - last.length >= at && text.endsWith(last);
  };
}
