import { useEffect, useState } from "preact/hooks";
import type { Documents } from "../../src/http/api/documents/documents.ts";
import { asProblem, type Doc, type Problem, send } from "./api.ts";
import { resyncs } from "./events.ts";

export interface Posted<T> {
  /** The answer; that to an older body stays while the answer to a newer one is awaited. */
  readonly data: T | undefined;
  readonly problem: Problem | undefined;
  /** The answer, or the problem, is that of an older body. */
  readonly isOld: boolean;
}

/** The time after the last change of the body. */
const QUIET_MS = 350;

/**
 * Sends a body that changes nothing on the server, such as that of an estimate, after each of its changes, and returns
 * the answer. `body` is JSON; undefined: nothing is sent.
 */
export function usePosted<N extends keyof Documents>(
  _name: N,
  path: string,
  body: string | undefined,
  method: "POST" | "PATCH" = "POST",
): Posted<Doc<N>> {
  const [{ of, ...answer }, setState] = useState<Omit<Posted<Doc<N>>, "isOld"> & { readonly of: string | undefined }>({
    data: undefined,
    problem: undefined,
    of: undefined,
  });
  const resync = resyncs.value;
  useEffect(() => {
    if (body === undefined) return setState({ data: undefined, problem: undefined, of: undefined });
    const abort = new AbortController();
    const { signal } = abort;
    const timer = setTimeout(() => {
      send<Doc<N>>({ method, path, body }, signal).then(
        (data) => setState({ data, problem: undefined, of: body }),
        (error: unknown) => signal.aborted || setState({ data: undefined, problem: asProblem(error), of: body }),
      );
    }, QUIET_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [method, path, body, resync]);
  return { ...answer, isOld: of !== body };
}
