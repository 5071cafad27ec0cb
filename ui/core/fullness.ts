/**
 * The share from which on the console marks a quota or a disk as nearly full. The server's own warning comes later,
 * when a twentieth is left (`src/quota/disk/nearly-full.ts`).
 */
export const NEARLY_FULL = 0.9;
