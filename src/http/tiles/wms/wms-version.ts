import type { Query } from "../../request/query.ts";

export type WmsVersion = "1.1.1" | "1.3.0";

/**
 * Returns the version of a request. A version above 1.3 is answered as 1.3.0, and every lower one, or none, as 1.1.1,
 * GWC's only version (OGC 06-042, 6.2.4).
 */
export function wmsVersion(query: Query): WmsVersion {
  const [, major, minor] = /^(\d{1,9})\.(\d{1,9})/.exec(query.get("VERSION") ?? "") ?? [];
  return Number(major) > 1 || (Number(major) === 1 && Number(minor) >= 3) ? "1.3.0" : "1.1.1";
}
