import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { type TraceContext, traceIdOf } from "../lib/trace-context.ts";

/** The name of a request in logs and in its answer: as the client or its proxy has it, its trace's, or a new one. */
export function requestIdOf(headers: IncomingHttpHeaders, trace: TraceContext | undefined): string {
  const given = headers["x-request-id"];
  if (typeof given === "string" && /^[\x21-\x7e]{1,128}$/.test(given)) return given;
  return trace === undefined ? randomUUID() : traceIdOf(trace);
}
