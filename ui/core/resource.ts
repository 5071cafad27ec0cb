import { useEffect, useRef, useState } from "preact/hooks";
import type { Documents } from "../../src/http/api/documents/documents.ts";
import { asProblem, type Doc, get, type Problem } from "./api.ts";
import { type EventKind, onEvent, resyncs } from "./events.ts";

export interface Loaded<T> {
  /** The last document that was read; it stays while a newer one is loaded. */
  readonly data: T | undefined;
  readonly problem: Problem | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

interface LoadOptions {
  /** Events after which the document is read again, at most once in `QUIET_MS`. */
  readonly on?: readonly EventKind[];
  /** Reads the document again in this interval while the page is visible. */
  readonly everyMs?: number;
}

const QUIET_MS = 400;

/** Reads a document of `/api/v1` and keeps it up to date. `path` undefined: reads nothing yet. */
export function useDocument<N extends keyof Documents>(
  name: N,
  path: string | undefined,
  { on = [], everyMs }: LoadOptions = {},
): Loaded<Doc<N>> {
  const [state, setState] = useState<{
    readonly path?: string | undefined;
    readonly data?: Doc<N> | undefined;
    readonly problem?: Problem | undefined;
    readonly isLoading: boolean;
  }>({ isLoading: path !== undefined });
  const load = useRef<() => void>(() => {});
  const resync = resyncs.value;

  useEffect(() => {
    if (path === undefined) return setState({ isLoading: false });
    let abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    load.current = () => {
      abort.abort();
      abort = new AbortController();
      const { signal } = abort;
      setState((before) => ({
        ...before,
        path,
        data: before.path === path ? before.data : undefined,
        isLoading: true,
      }));
      get(name, path, signal).then(
        (data) => signal.aborted || setState({ path, data, isLoading: false }),
        (error: unknown) =>
          signal.aborted || setState((before) => ({ ...before, problem: asProblem(error), isLoading: false })),
      );
    };
    const soon = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined;
        load.current();
      }, QUIET_MS);
    };
    load.current();
    const stops = on.map((kind) => onEvent(kind, soon));
    const interval = everyMs === undefined ? undefined : setInterval(() => document.hidden || load.current(), everyMs);
    return () => {
      abort.abort();
      clearTimeout(timer);
      clearInterval(interval);
      for (const stop of stops) stop();
    };
  }, [name, path, on.join(","), everyMs, resync]);

  const isOfPath = state.path === path;
  return {
    data: isOfPath ? state.data : undefined,
    problem: isOfPath ? state.problem : undefined,
    isLoading: state.isLoading,
    reload: () => load.current(),
  };
}
