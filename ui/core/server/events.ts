import { signal } from "@preact/signals";
import type { Doc } from "./api.ts";
import { listenWhileVisible } from "./event-stream.ts";
import { parseJson } from "./json.ts";

/** The events that all views receive. Changes of tiles have a separate stream (`listenToTiles`). */
const KINDS = ["job", "forgotten", "truncation", "schedule", "upstream", "quota", "configuration", "activity"] as const;
export type EventKind = (typeof KINDS)[number];
const TYPES = KINDS.filter((kind) => kind !== "forgotten").join(",");

/** The state of the stream. `sinceMs` is when the connection was lost, ms since 1970. */
export type Connection = { readonly kind: "connecting" | "open" } | { readonly kind: "lost"; readonly sinceMs: number };

export const connection = signal<Connection>({ kind: "connecting" });
/** The unfinished jobs, and the last jobs that have ended since the page was loaded. */
export const liveJobs = signal<ReadonlyMap<number, Doc<"Job">>>(new Map());
/** The same jobs, perhaps newer than in `liveJobs`. */
const jobs = new Map<number, Doc<"Job">>();
/** Increases whenever events may have been missed, so that data which a view has read may be outdated. */
export const resyncs = signal(0);

type Listener = (data: unknown) => void;
const listeners = new Map<EventKind, Set<Listener>>();

/** Calls `listener` for every event of a kind until the returned function is called. */
export function onEvent<T>(kind: EventKind, listener: (data: T) => void): () => void {
  const all = listeners.get(kind) ?? new Set();
  listeners.set(kind, all);
  all.add(listener as Listener);
  return () => all.delete(listener as Listener);
}

let lastId = "";

/**
 * Receives events of the server while the page is visible, until the returned function is called. When the page becomes
 * visible again, and after the browser has reconnected, it gets the missed events, or a snapshot.
 */
export const listenToEvents = (): (() => void) =>
  listenWhileVisible({
    query: () => new URLSearchParams({ types: TYPES, ...(lastId === "" ? {} : { lastEventId: lastId }) }),
    kinds: [...KINDS, "snapshot"],
    take,
    changed(isOpen) {
      if (isOpen) connection.value = { kind: "open" };
      else if (connection.value.kind !== "lost") connection.value = { kind: "lost", sinceMs: Date.now() };
    },
  });

function take(kind: EventKind | "snapshot", event: MessageEvent<string>): void {
  lastId = event.lastEventId;
  if (kind === "snapshot") {
    jobs.clear();
    for (const job of parseJson<{ jobs: readonly Doc<"Job">[] }>(event.data).jobs) jobs.set(job.id, job);
    showJobs();
    resyncs.value++;
    return;
  }
  const data = parseJson<unknown>(event.data);
  if (kind === "job") {
    const job = data as Doc<"Job">;
    // Moves a changed job to the end of the map.
    jobs.delete(job.id);
    jobs.set(job.id, job);
    showJobsSoon();
  } else if (kind === "forgotten") {
    jobs.delete((data as { id: number }).id);
    showJobsSoon();
  }
  for (const listener of [...(listeners.get(kind) ?? [])]) listener(data);
}

/** Views are rendered at most four times a second, although a thousand jobs change a thousand times a second. */
const SHOW_MS = 250;
const MOST_ENDED = 100;
let showTimer: ReturnType<typeof setTimeout> | undefined;

function showJobsSoon(): void {
  showTimer ??= setTimeout(showJobs, SHOW_MS);
}

function showJobs(): void {
  clearTimeout(showTimer);
  showTimer = undefined;
  const ended = [...jobs.values()].filter(({ state }) => state === "done" || state === "aborted");
  for (const { id } of ended.slice(0, Math.max(0, ended.length - MOST_ENDED))) jobs.delete(id);
  liveJobs.value = new Map(jobs);
}
