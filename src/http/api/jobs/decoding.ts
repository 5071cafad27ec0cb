import type { Refusal } from "../../../lib/refusal.ts";
import type { Result } from "../../../lib/result.ts";

/** Decodes a value in steps. Yields between slices of work, so that a large request does not delay other requests. */
export type Decoding<T> = Generator<undefined, Result<T, Refusal>>;

/** The number of positions or tiles between two yields: about a millisecond of work. */
export const ITEMS_PER_PAUSE = 1_024;
