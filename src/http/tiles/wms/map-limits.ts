/** The longest side of a map in pixels. No browser shows a larger map. */
export const MAX_SIDE = 4096;
/** The most layers of one map. */
export const LAYER_LIMIT = 1;
