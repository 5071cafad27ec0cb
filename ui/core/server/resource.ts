import { useEffect, useRef, useState } from "preact/hooks";
import type { Documents } from "../../../src/http/api/documents/documents.ts";
import { asProblem, type Doc, get, type Problem } from "./api.ts";
import { type EventKind, onEvent, resyncs } from "./events.ts";

export interface Loaded<T> {
  /** The last document. It is kept while a newer one is being loaded. */
  readonly data: T | undefined;
  readonly problem: Problem | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

interface LoadOptions<T> {
  /** Events after which the document is read again, at most once in `QUIET_MS`. */
  readonly on?: readonly EventKind[];
  /** Reads the document again at this interval while the page is visible. A function decides by the last document. */
  readonly everyMs?: number | undefined | ((data: T | undefined) => number | undefined);
  /** When this value changes, reads the document again, at most once in `QUIET_MS`. */
  readonly version?: string | number | bigint;
}

const QUIET_MS = 400;

/** Reads a document of `/api/v1` and follows its changes. Reads nothing while `path` is undefined. */
export function useDocument<N extends keyof Documents>(
  name: N,
  path: string | undefined,
  { on = [], everyMs, version }: LoadOptions<Doc<N>> = {},
): Loaded<Doc<N>> {
  const [state, setState] = useState<{
    readonly path?: string | undefined;
    readonly data?: Doc<N> | undefined;
    readonly problem?: Problem | undefined;
    readonly isLoading: boolean;
  }>({ isLoading: path !== undefined });
  const load = useRef<() => void>(() => {});
  const loadSoon = useRef<() => void>(() => {});
  const known = useRef(version);
  const resync = resyncs.value;
  const shown = state.path === path ? state.data : undefined;
  const intervalMs = typeof everyMs === "function" ? everyMs(shown) : everyMs;

  useEffect(() => {
    if (path === undefined) return setState({ isLoading: false });
    let abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isReading = false;
    let isOld = false;
    load.current = () => {
      abort.abort();
      abort = new AbortController();
      const { signal } = abort;
      isReading = true;
      isOld = false;
      setState((before) => ({
        ...before,
        path,
        data: before.path === path ? before.data : undefined,
        isLoading: true,
      }));
      const take = (next: Parameters<typeof setState>[0]): void => {
        if (signal.aborted) return;
        setState(next);
        isReading = false;
        if (isOld) loadSoon.current();
      };
      get(name, path, signal).then(
        (data) => take({ path, data, isLoading: false }),
        (error: unknown) => take((before) => ({ ...before, problem: asProblem(error), isLoading: false })),
      );
    };
    // A busy server answers slower than events arrive, so each answer is awaited before the next request.
    loadSoon.current = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        if (isReading) isOld = true;
        else load.current();
      }, QUIET_MS);
    };
    load.current();
    const stops = on.map((kind) => onEvent(kind, () => loadSoon.current()));
    const interval =
      intervalMs === undefined ? undefined : setInterval(() => document.hidden || load.current(), intervalMs);
    return () => {
      abort.abort();
      clearTimeout(timer);
      clearInterval(interval);
      for (const stop of stops) stop();
    };
  }, [name, path, on.join(","), intervalMs, resync]);

  useEffect(() => {
    if (known.current === version) return;
    known.current = version;
    loadSoon.current();
  }, [version]);

  return {
    data: shown,
    problem: state.path === path ? state.problem : undefined,
    isLoading: state.isLoading,
    reload: () => load.current(),
  };
}
