/** The fewest digits, two at least, that single precision reads back as the same number: Java's rule. */
function fewestDigits(single: number): number {
  for (let digits = 2; digits < 9; digits++) {
    const shorter = Number(single.toPrecision(digits));
    if (Math.fround(shorter) === single) return shorter;
  }
  return Number(single.toPrecision(9));
}

const withFraction = (digits: string): string => (digits.includes(".") ? digits : `${digits}.0`);

/**
 * A finite number rounded to single precision, in the words of Java's `Float.toString` (`0.3`, `10.0`, `1.0E7`): GWC
 * writes the values of float filters so, and its caches are found by that text (`docs/explanation/geowebcache.md`, Parameter filters). Negative zero
 * is zero.
 */
export function floatText(value: number): string {
  const short = fewestDigits(Math.fround(value)) + 0;
  const size = Math.abs(short);
  if (size === 0 || (size >= 1e-3 && size < 1e7)) return withFraction(String(short));
  const [digits = "", exponent = ""] = short.toExponential().split("e");
  return `${withFraction(digits)}E${Number(exponent)}`;
}
