import { useEffect, useState } from "preact/hooks";
import type { Documents } from "../../src/http/api/documents/documents.ts";
import { asProblem, type Doc, type Problem, send } from "./api.ts";

interface Posted<T> {
  /** The answer; that to an older body stays while the answer to a newer one is awaited. */
  readonly data: T | undefined;
  readonly problem: Problem | undefined;
}

/** The time after the last change of the body. */
const QUIET_MS = 350;

/**
 * Sends a body that changes nothing on the server, such as that of an estimate, after each of its changes, and returns
 * the answer. `body` is JSON; undefined: nothing is sent.
 */
export function usePosted<N extends keyof Documents>(_name: N, path: string, body: string | undefined): Posted<Doc<N>> {
  const [state, setState] = useState<Posted<Doc<N>>>({ data: undefined, problem: undefined });
  useEffect(() => {
    if (body === undefined) return setState({ data: undefined, problem: undefined });
    const abort = new AbortController();
    const { signal } = abort;
    const timer = setTimeout(() => {
      send<Doc<N>>({ method: "POST", path, body }, signal).then(
        (data) => setState({ data, problem: undefined }),
        (error: unknown) => signal.aborted || setState({ data: undefined, problem: asProblem(error) }),
      );
    }, QUIET_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [path, body]);
  return state;
}
