import type { IncomingHttpHeaders } from "node:http";
import { type TraceContext, traceIdOf } from "../lib/http/trace-context.ts";
import { machineRandom } from "../lib/random/machine-random.ts";

export const ID_HEADER = "X-Request-Id";

/**
 * Returns the id of a request for logs and for its response: the `X-Request-Id` of the client or its proxy, else its
 * trace id, else a new id.
 */
export function requestIdOf(headers: IncomingHttpHeaders, trace: TraceContext | undefined): string {
  const given = headers["x-request-id"];
  if (typeof given === "string" && /^[\x21-\x7e]{1,128}$/.test(given)) return given;
  return trace === undefined ? machineRandom.uuid() : traceIdOf(trace);
}
