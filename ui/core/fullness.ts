/**
 * The console marks a quota or a disk as nearly full from this share on. The server itself warns later, when a twentieth
 * is left (`src/quota/nearly-full.ts`).
 */
export const NEARLY_FULL = 0.9;
