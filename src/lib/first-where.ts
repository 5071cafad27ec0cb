/** The first of the numbers from 0 to before `end` from which on something holds; `end`: of none. */
export function firstWhere(end: number, holds: (i: number) => boolean): number {
  let [low, high] = [0, end];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
