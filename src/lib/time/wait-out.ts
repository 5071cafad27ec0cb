/** Waits until `leftMs()` returns 0 or less. The remaining time, in ms, may grow during the wait. */
export async function waitOut(leftMs: () => number): Promise<void> {
  for (let ms = leftMs(); ms > 0; ms = leftMs()) await new Promise((resolve) => setTimeout(resolve, ms));
}
