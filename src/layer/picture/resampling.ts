/** How the pixels of tiles become the pixels of a map of another resolution. */
export const RESAMPLINGS = ["nearest", "bilinear", "bicubic"] as const;
export type Resampling = (typeof RESAMPLINGS)[number];

export const STANDARD_RESAMPLING: Resampling = "bilinear";

/** GeoWebCache's words of a resampling (`hintsLevel` of a layer, `hints` of a request), each at its own level. */
export const HINTS: Readonly<Record<Resampling, string>> = {
  nearest: "SPEED",
  bilinear: "DEFAULT",
  bicubic: "QUALITY",
};

/** Returns the resampling of one of GeoWebCache's words, in any case. Undefined for any other word. */
export const resamplingOfHint = (hint: string): Resampling | undefined =>
  RESAMPLINGS.find((resampling) => HINTS[resampling] === hint.toUpperCase());
