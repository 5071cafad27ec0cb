import type { Query } from "../../request/query.ts";

export type WmsVersion = "1.1.1" | "1.3.0";

/**
 * Returns the version that a request names: in VERSION, or in WMTVER, its name in WMS 1.0.0 (OGC 01-068r3, 6.5.1).
 * VERSION counts if a request has both. Undefined if it names none.
 */
export const namedVersion = (query: Query): string | undefined =>
  query.get("VERSION") || query.get("WMTVER") || undefined;

/**
 * Returns the version of a request. A version above 1.3 is answered as 1.3.0, and every lower one, or none, as 1.1.1,
 * GWC's only version (OGC 06-042, 6.2.4).
 */
export function wmsVersion(query: Query): WmsVersion {
  const [, major, minor] = /^(\d{1,9})\.(\d{1,9})/.exec(namedVersion(query) ?? "") ?? [];
  return Number(major) > 1 || (Number(major) === 1 && Number(minor) >= 3) ? "1.3.0" : "1.1.1";
}
