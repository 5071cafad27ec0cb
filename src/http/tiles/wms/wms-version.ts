import type { Query } from "../../request/query.ts";

export type WmsVersion = "1.1.1" | "1.3.0";

/** Returns the version of a request. Every version other than 1.3 is answered as 1.1.1, GWC's only version. */
export const wmsVersion = (query: Query): WmsVersion =>
  query.get("VERSION")?.startsWith("1.3") === true ? "1.3.0" : "1.1.1";
