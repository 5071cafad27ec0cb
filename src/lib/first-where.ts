/**
 * Returns the first number from 0 to before `end` for which a condition holds, by bisection: the condition must hold
 * for all later numbers too. Returns `end` if it holds for no number.
 */
export function firstWhere(end: number, holds: (i: number) => boolean): number {
  let [low, high] = [0, end];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
