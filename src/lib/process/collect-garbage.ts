import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Collects the garbage of this thread's heap, which takes some ms. V8 collects only while a thread allocates, so an
 * idle thread would hold memory that it no longer needs.
 */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("globalThis.gc");
  if (typeof collect === "function") collect();
}
