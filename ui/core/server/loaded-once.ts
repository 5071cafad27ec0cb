import { useEffect, useState } from "preact/hooks";
import { asProblem, type Problem } from "./api.ts";

/** The result of a promise: its value, or why it failed. Both are undefined until then. */
export interface LoadedOnce<T> {
  readonly value?: T;
  readonly problem?: Problem;
}

/**
 * Calls `load` when the component is shown, and after each change of `version`. The signal fires when its result is no
 * longer needed. The result of an older call is kept until the newer call has ended.
 */
export function useLoadedOnce<T>(load: (signal: AbortSignal) => Promise<T>, version: unknown): LoadedOnce<T> {
  const [result, setResult] = useState<LoadedOnce<T>>({});
  useEffect(() => {
    const abort = new AbortController();
    load(abort.signal).then(
      (value) => abort.signal.aborted || setResult({ value }),
      (error: unknown) => abort.signal.aborted || setResult({ problem: asProblem(error) }),
    );
    return () => abort.abort();
  }, [version]);
  return result;
}
