import { atEveryZoom, type ByZoom, type ZoomRule } from "../../layer/by-zoom.ts";
import type { Path, Problems } from "./problems.ts";
import type { ExpiryDocument } from "./schema/layer-schema.ts";

/**
 * Returns expiry rules, each valid from a zoom on, as GWC's `expirationRule`. A plain number of seconds is one rule for
 * all zooms.
 */
export function buildExpiry<T>(
  document: ExpiryDocument,
  read: (seconds: number) => T,
  path: Path,
  problems: Problems,
): ByZoom<T> {
  if (typeof document === "number") return atEveryZoom(read(document));
  const [first, ...others] = document.map(({ minZoom, seconds }): ZoomRule<T> => ({ minZoom, value: read(seconds) }));
  if (first === undefined) throw new Error("a list without rules has passed the schema");
  if (first.minZoom !== 0)
    problems.add([...path, 0, "minZoom"], `expected 0, as the first rule holds from there on, got ${first.minZoom}`);
  let before = first.minZoom;
  for (const [i, { minZoom }] of others.entries()) {
    if (minZoom <= before)
      problems.add([...path, i + 1, "minZoom"], `expected more than ${before}, as of the rule before, got ${minZoom}`);
    before = minZoom;
  }
  return [first, ...others];
}

/**
 * Decodes GWC's codes (`docs/explanation/geowebcache.md`, Expiry). -1: clients must revalidate each time. -2: the tile
 * never expires; HTTP has no such value, so clients get a year.
 */
export const clientExpiryOf = (seconds: number): number | "no-cache" =>
  seconds === -1 ? "no-cache" : seconds === -2 ? 31_536_000 : seconds;
