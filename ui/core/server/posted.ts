import { useEffect, useState } from "preact/hooks";
import type { Documents } from "../../../src/http/api/documents/documents.ts";
import { asProblem, type Doc, type Problem, send } from "./api.ts";
import { resyncs } from "./events.ts";

export interface Posted<T> {
  /** The last answer. While a newer body is being answered, this is the answer to an older body. */
  readonly data: T | undefined;
  readonly problem: Problem | undefined;
  /** Whether the answer, or the problem, is for an older body. */
  readonly isOld: boolean;
}

/** The body is sent this long after its last change. */
const QUIET_MS = 350;

/**
 * Sends a body after each of its changes, and returns the answer. The request must change nothing on the server, such
 * as an estimate. `body` is JSON; undefined sends nothing.
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
