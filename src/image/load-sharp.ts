import type { Sharp, SharpOptions } from "sharp";

type SharpFactory = (input?: Uint8Array, options?: SharpOptions) => Sharp;

let loading: Promise<SharpFactory> | undefined;

/**
 * Loads sharp for the first picture that needs it, because sharp takes 20 MiB and plain PNG work does not need it. One
 * thread per renderer is enough.
 */
export function loadSharp(): Promise<SharpFactory> {
  loading ??= import("sharp").then(({ default: sharp }) => {
    sharp.concurrency(1);
    sharp.cache(false);
    return sharp;
  });
  return loading;
}
