/**
 * Returns the number with the fewest digits, at least two, that rounds to the same number in single precision. This is
 * Java's rule.
 */
function fewestDigits(single: number): number {
  for (let digits = 2; digits < 9; digits++) {
    const shorter = Number(single.toPrecision(digits));
    if (Math.fround(shorter) === single) return shorter;
  }
  return Number(single.toPrecision(9));
}

const withFraction = (digits: string): string => (digits.includes(".") ? digits : `${digits}.0`);

/**
 * Formats a finite number, rounded to single precision, as Java's `Float.toString` does (`0.3`, `10.0`, `1.0E7`). GWC
 * writes the values of float filters in this form, and names the directories of its caches by this text
 * (`docs/explanation/geowebcache.md`, Parameter filters). Negative zero becomes zero.
 */
export const floatText = (value: number): string => javaText(fewestDigits(Math.fround(value)) + 0);

/**
 * Formats a finite number as Java's `Double.toString` does (`1000000.0`, `2.5E7`, `2.8E-4`). Negative zero becomes
 * zero.
 */
export const doubleText = (value: number): string => javaText(value + 0);

/** Returns a number in Java's form, with its shortest digits. */
function javaText(short: number): string {
  const size = Math.abs(short);
  if (size === 0 || (size >= 1e-3 && size < 1e7)) return withFraction(String(short));
  const [digits = "", exponent = ""] = short.toExponential().split("e");
  return `${withFraction(digits)}E${Number(exponent)}`;
}
