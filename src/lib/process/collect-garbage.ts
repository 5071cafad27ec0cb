import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Runs a garbage collection of this thread's heap, which takes some ms. V8 collects only while a thread allocates, so
 * an idle thread would keep memory that it no longer needs.
 */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("globalThis.gc");
  if (typeof collect === "function") collect();
}
