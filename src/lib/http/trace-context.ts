import { AsyncLocalStorage } from "node:async_hooks";

/** The trace that a request belongs to, from its headers (W3C Trace Context). The headers are passed on unchanged. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

const PARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
/**
 * The longest tracestate that is passed on, in characters. The specification demands no more (3.3.1.5); a longer one is
 * left out.
 */
const LONGEST_STATE = 512;

/**
 * Parses the trace headers of a request. Undefined if the request has no trace or an invalid one, which counts as no
 * trace (3.2.2.5).
 */
export function traceContextOf(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): TraceContext | undefined {
  const { traceparent, tracestate } = headers;
  if (typeof traceparent !== "string" || !PARENT.test(traceparent)) return undefined;
  const isState = typeof tracestate === "string" && /^[\x20-\x7e]+$/.test(tracestate);
  return isState && tracestate.length <= LONGEST_STATE ? { traceparent, tracestate } : { traceparent };
}

export const traceIdOf = ({ traceparent }: TraceContext): string => traceparent.slice(3, 35);

const current = new AsyncLocalStorage<TraceContext>();

/**
 * Runs `body`, and all asynchronous work that it starts, as a part of a trace. If `trace` is undefined, runs it without
 * a trace.
 */
export const withTrace = <T>(trace: TraceContext | undefined, body: () => T): T =>
  trace === undefined ? body() : current.run(trace, body);

export const currentTrace = (): TraceContext | undefined => current.getStore();
