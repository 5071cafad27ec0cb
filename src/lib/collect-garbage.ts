import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Gives back what the heap of this thread no longer needs; takes some ms. V8 collects while there is something to do, not
 * from a thread that has come to rest.
 */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("globalThis.gc");
  if (typeof collect === "function") collect();
}
