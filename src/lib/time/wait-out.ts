/** Waits until no time is left. The time may grow meanwhile. `leftMs`: ms, 0 or less at the end. */
export async function waitOut(leftMs: () => number): Promise<void> {
  for (let ms = leftMs(); ms > 0; ms = leftMs()) await new Promise((resolve) => setTimeout(resolve, ms));
}
