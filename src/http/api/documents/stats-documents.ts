import * as z from "zod";
import { int64, moment, text, whole } from "../../../lib/document-fields.ts";
import { TRAFFIC_WINDOWS } from "../stats/traffic-history.ts";

const milliseconds = z.number().nullable().meta({ description: "ms; null: no requests" });
const notCached = whole.meta({
  description: "Requests only for a stored tile (only-if-cached) that found no tile; not in `requests`",
});
const counts = { requests: whole, hits: whole, misses: whole, failed: whole, notCached };
const numbers = {
  ...counts,
  hitRatio: z.number().nullable(),
  bytes: int64.meta({ description: "Of the tiles in answers with a body, before compression for the connection" }),
  latency: z.object({ p50: milliseconds, p95: milliseconds, p99: milliseconds }),
};

export const stats = z.object({
  window: z.enum(TRAFFIC_WINDOWS),
  since: moment.meta({ description: "Begin of the window, or of the server if that is later" }),
  total: z.object(numbers),
  layers: z.array(z.object({ layer: text, ...numbers })).exactOptional(),
  series: z.array(z.object({ at: moment, ...counts, bytes: int64, p95: milliseconds })),
});
