import { useEffect, useState } from "preact/hooks";
import { asProblem, type Problem, send } from "../../core/api.ts";
import { resyncs } from "../../core/events.ts";
import type { Estimate } from "./draft.ts";

export interface ShownEstimate {
  readonly estimate: Estimate | undefined;
  readonly problem: Problem | undefined;
  /** The estimate is of an older form: a newer one is being worked out. */
  readonly isOld: boolean;
}

/** The time after the last change of the form. */
const QUIET_MS = 300;

/** Estimates a job by itself, after each change of its request. `text`: the JSON of the request. */
export function useEstimate(text: string): ShownEstimate {
  const [state, setState] = useState<ShownEstimate & { readonly of: string }>({
    estimate: undefined,
    problem: undefined,
    isOld: true,
    of: "",
  });
  useEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    const timer = setTimeout(() => {
      send<Estimate>({ method: "POST", path: "estimate", body: text }, signal).then(
        (estimate) => setState({ estimate, problem: undefined, isOld: false, of: text }),
        (error: unknown) =>
          signal.aborted || setState({ estimate: undefined, problem: asProblem(error), isOld: false, of: text }),
      );
    }, QUIET_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text, resyncs.value]);
  return { ...state, isOld: state.of !== text };
}
