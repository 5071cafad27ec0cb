import type { Random } from "../../src/lib/random/random.ts";

/** Numbers from 0 to below 1, the same for the same seed. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Random numbers that are the same for the same seed. */
export function seededRandom(seed: number): Random {
  const fraction = random(seed);
  const below = (end: number): number => Math.floor(fraction() * end);
  const bytes = (count: number): Buffer => Buffer.from(Array.from({ length: count }, () => below(256)));
  const uuid = (): string => {
    const hex = bytes(16).toString("hex");
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  };
  return { fraction, below, bytes, uuid };
}

/** Random numbers of which each fraction is one half. */
export const evenRandom: Random = { ...seededRandom(1), fraction: () => 0.5 };
