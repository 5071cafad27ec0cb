import { AsyncLocalStorage } from "node:async_hooks";

/** Where a request stands in the trace of whoever sent it (W3C Trace Context): passed on as it came. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

const PARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
/** A vendor's list may be cut from 512 characters on (3.3.1.5); what is longer is left out. */
const LONGEST_STATE = 512;

/** As the headers tell; undefined: no trace, or none that can be read (3.2.2.5: then it is as if there were none). */
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

/** Runs something, and whatever it starts, as a part of a trace; undefined: of none. */
export const withTrace = <T>(trace: TraceContext | undefined, body: () => T): T =>
  trace === undefined ? body() : current.run(trace, body);

export const currentTrace = (): TraceContext | undefined => current.getStore();
