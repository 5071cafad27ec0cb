import * as z from "zod";
import type { TileChange } from "../../../coordinator/coverage/tile-changes.ts";
import type { Operations } from "../../../coordinator/operations.ts";
import type { ServerEvent } from "../../../coordinator/server-event.ts";
import { text } from "../../../lib/document-fields.ts";
import { onceEach } from "../../../lib/once-each.ts";
import { refuse } from "../../../lib/result.ts";
import { jsonText } from "../../../lib/text/json-text.ts";
import type { JobView } from "../../../plan/job/job-documents.ts";
import { sessionTokenOf } from "../../auth/session-cookie.ts";
import { EVENT_STREAM_TYPE } from "../../reply.ts";
import type { Reply, RouteOptions } from "../../resource.ts";
import { type Call, operation } from "../api-operation.ts";
import { id, layer } from "../query-fields.ts";
import { TileChangeFeed } from "./tile-change-feed.ts";

/**
 * The longest silence of a stream: 15 s, less a second for the transmission. Most proxies close a connection after a
 * minute of silence, some after 20 s. An event that the filter excludes is not sent, and does not end a silence.
 */
const HEARTBEAT_MS = 14_000;
/** The interval between checks of the session. A stream ends at the first check after its session was closed. */
const SESSION_CHECK_MS = 10_000;
/** The delay after which a browser reconnects. */
const RETRY_MS = 2_000;
/** The most streams at once. Each has a connection, and each change is sent to each stream. */
const MOST_STREAMS = 1_000;
/** The most streams of one account. Each tab of the console has one. */
const MOST_OF_ACCOUNT = 100;
/** The most jobs of each state in a snapshot. */
const SNAPSHOT = 1_000;

type EventParts = Pick<RouteOptions, "events" | "clock"> & {
  readonly operations: Pick<Operations, "jobs" | "tileChanges" | "isSession">;
};

/** The types that a client can request. `job` includes the removal of a job from the history. */
const TYPES = ["job", "tiles", "truncation", "schedule", "upstream", "quota", "configuration", "activity"] as const;
type EventType = (typeof TYPES)[number];
const isType = (word: string): word is EventType => TYPES.some((type) => type === word);

const types = text
  .transform((given, context): ReadonlySet<EventType> => {
    const words = given.split(",").map((word) => word.trim());
    if (words.every(isType)) return new Set(words.filter(isType));
    context.addIssue({ code: "custom", message: `a list of ${TYPES.join(", ")}` });
    return z.NEVER;
  })
  .exactOptional()
  .meta({ description: `A list of ${TYPES.join(", ")}, with commas between them. Absent: job` });

const eventsQuery = z.object({
  types,
  layer,
  job: id("the id of a job"),
  // Clients may also send the header Last-Event-ID. The OpenAPI document omits the header, because code generators
  // would give both parameters one name.
  lastEventId: text.exactOptional(),
});
type Wanted = z.output<typeof eventsQuery>;
/** The parts of a request that a stream uses. */
type StreamRequest = Pick<
  Call<typeof eventsQuery, string>,
  "fields" | "headers" | "signal" | "caller" | "isStillPermitted"
>;

/** One function serves all requests of a server, because its streams share the requests for changes of tiles. */
const streamsOf = onceEach((parts: EventParts) => eventStreams(parts));

export const eventsOperations = [
  operation(
    "GET /events",
    "listenToJobs",
    "Streams server-sent events: snapshot (the first), job (a change), forgotten (removed from the history), and other types",
    {
      query: eventsQuery,
      answers: { 200: { description: "A stream", content: { "text/event-stream": { schema: { type: "string" } } } } },
      failures: [404],
    },
    (parts, call) => streamsOf(parts)(call),
  ),
];

/**
 * `events`: server-sent events (HTML, 9.2). The stream begins with a snapshot of the unfinished jobs; each change
 * follows. A client that reconnects with its Last-Event-ID gets the events after that id. If the server has discarded
 * these events, the client gets a snapshot again. The stream ends when the caller has lost its account, its API token,
 * its session or the right to read.
 */
export function eventStreams({ operations, events, clock }: EventParts): (request: StreamRequest) => Promise<Reply> {
  const tiles = new TileChangeFeed(
    (signal) => operations.tileChanges(signal),
    () => events.wake(),
    clock,
  );
  let streams = 0;
  const ofAccounts = new Map<string, number>();
  return async ({ fields: wanted, headers, signal, caller, isStillPermitted }) => {
    if (streams >= MOST_STREAMS)
      return refuse({ code: "too_many_requests", message: `${MOST_STREAMS} streams of events are open already.` });
    const account = caller.kind === "user" ? caller.user.name : undefined;
    const own = account === undefined ? 0 : (ofAccounts.get(account) ?? 0);
    if (own >= MOST_OF_ACCOUNT)
      return refuse({
        code: "too_many_requests",
        message: `This account has ${MOST_OF_ACCOUNT} streams of events open already.`,
      });
    if (!signal.aborted) {
      streams++;
      if (account !== undefined) ofAccounts.set(account, own + 1);
      const ended = (): void => {
        streams--;
        if (account === undefined) return;
        const left = (ofAccounts.get(account) ?? 1) - 1;
        if (left === 0) ofAccounts.delete(account);
        else ofAccounts.set(account, left);
      };
      signal.addEventListener("abort", ended, { once: true });
    }
    const last = headers["last-event-id"] ?? wanted.lastEventId ?? "";
    const from = events.numberOf(Array.isArray(last) ? (last[0] ?? "") : last);
    const isOfSession = caller.kind === "user" && caller.csrfToken !== undefined;
    const session = isOfSession ? sessionTokenOf(headers.cookie) : undefined;
    return {
      status: 200,
      type: EVENT_STREAM_TYPE,
      // Without this header nginx buffers minutes of events.
      headers: { "X-Accel-Buffering": "no" },
      body: withTiles(tiles, wanted, (changes) =>
        stream({ operations, events, clock }, wanted, { from, changes, signal, isStillPermitted, session }),
      ),
    };
  };
}

/** Yields a stream. If the client requests changes of tiles, listens to them for the time of the stream. */
async function* withTiles(
  tiles: TileChangeFeed,
  { types: requested, layer: ofLayer }: Wanted,
  streamOf: (changes: () => readonly TileChange[]) => AsyncGenerator<string>,
): AsyncGenerator<string> {
  const listener = requested?.has("tiles") === true ? tiles.listen(ofLayer) : undefined;
  try {
    yield* streamOf(() => listener?.take() ?? []);
  } finally {
    listener?.end();
  }
}

interface StreamFrom {
  /** The number of the last event that the client has received. Undefined if it has received no event. */
  readonly from: number | undefined;
  /** Returns the changes of tiles since the last call. They have no numbers, and are sent only once. */
  readonly changes: () => readonly TileChange[];
  readonly signal: AbortSignal;
  /** Returns whether the account or API token of the caller still has the right to read. */
  readonly isStillPermitted: () => boolean;
  /** The token of the caller's session. Undefined if the caller has no session. */
  readonly session: string | undefined;
}

async function* stream(
  { operations, events, clock }: EventParts,
  wanted: Wanted,
  { from, changes: take, signal, isStillPermitted, session }: StreamFrom,
): AsyncGenerator<string> {
  yield `retry: ${RETRY_MS}\n\n`;
  let seen = from;
  let sentMs = clock.monotonicNow();
  let checkedMs = sentMs;
  while (!signal.aborted && isStillPermitted()) {
    if (session !== undefined && clock.monotonicNow() - checkedMs >= SESSION_CHECK_MS) {
      checkedMs = clock.monotonicNow();
      if (!(await operations.isSession(session))) return;
    }
    if (seen === undefined) {
      seen = events.last;
      yield message("snapshot", events.idOf(seen), await snapshot(operations, wanted));
      sentMs = clock.monotonicNow();
    }
    const changes = take();
    if (changes.length > 0) {
      yield `event: tiles\ndata: ${jsonText({ changes })}\n\n`;
      sentMs = clock.monotonicNow();
    }
    const silenceMs = clock.monotonicNow() - sentMs;
    const next = events.at(seen + 1);
    if (next === "gone") seen = undefined;
    else if (next !== undefined && isWanted(next.event, wanted)) {
      seen++;
      yield message(next.event.kind, events.idOf(seen), next.data);
      sentMs = clock.monotonicNow();
    } else if (silenceMs >= HEARTBEAT_MS && !events.closed) {
      yield heartbeat(events.idOf(seen));
      sentMs = clock.monotonicNow();
    } else if (next !== undefined) seen++;
    else {
      if (events.closed) return;
      await events.next(seen, HEARTBEAT_MS - silenceMs, signal);
    }
  }
}

/**
 * Returns a comment with an id. An id without data causes no event (HTML, 9.2.6), but a client that reconnects
 * continues after this id.
 */
const heartbeat = (id: string): string => `: still here\nid: ${id}\n\n`;

const message = (event: string, id: string, data: string): string => `event: ${event}\nid: ${id}\ndata: ${data}\n\n`;

const STANDARD_TYPES: ReadonlySet<EventType> = new Set<EventType>(["job"]);

/**
 * Returns whether a client requests an event. A filter by layer or job accepts all events that have no layer or job.
 */
function isWanted(event: ServerEvent, wanted: Wanted): boolean {
  const { types: requested = STANDARD_TYPES } = wanted;
  if (!requested.has(event.kind === "forgotten" ? "job" : event.kind)) return false;
  switch (event.kind) {
    case "job":
      return isOf(event.job, wanted);
    case "forgotten":
      return wanted.job === undefined || event.id === wanted.job;
    case "truncation":
      return wanted.layer === undefined || event.truncation.layer === wanted.layer;
    case "schedule":
    case "upstream":
    case "quota":
    case "configuration":
    case "activity":
      return true;
  }
}

const isOf = (view: JobView, wanted: Wanted): boolean =>
  (wanted.layer === undefined || view.layer === wanted.layer) && (wanted.job === undefined || view.id === wanted.job);

/**
 * Returns the unfinished jobs. The caller has read the number of the last event before, so a concurrent change is sent
 * twice, which is harmless.
 */
async function snapshot(operations: EventParts["operations"], wanted: Wanted): Promise<string> {
  const filter = { limit: SNAPSHOT, ...(wanted.layer === undefined ? {} : { layer: wanted.layer }) };
  const lists = await Promise.all(
    (["running", "pending"] as const).map((state) => operations.jobs({ state, ...filter })),
  );
  const jobs = lists.flat().filter((view) => isOf(view, wanted));
  return jsonText({ jobs, complete: lists.every((list) => list.length < SNAPSHOT) });
}
