import type { Refusal } from "../../../lib/refusal.ts";
import type { Result } from "../../../lib/result.ts";

/** Decodes a value in steps: yields now and then, so that a large request does not hold up others. */
export type Decoding<T> = Generator<undefined, Result<T, Refusal>>;

/** The number of positions or tiles between two pauses: about a millisecond of work. */
export const ITEMS_PER_PAUSE = 1_024;
