import { expect, test } from "vitest";
import { eventStream, type StreamMessage } from "../../support/network/event-stream.ts";
import { closedAfterEach } from "../../support/server/running.ts";
import { type JobJson, job, seed, startServer, type TestServer } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { until } from "../../support/until.ts";
import { renderAfter, startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();
const LAYER = "ws:roads";

async function start(): Promise<TestServer> {
  running.upstream = await startUpstream();
  running.upstream.behaviour = renderAfter(20);
  running.server = await startServer({ configuration: smallTiles(running.upstream.url) });
  return running.server;
}

const jobOf = (message: StreamMessage): JobJson => JSON.parse(message.data);

/** Listens until a message is the last one wanted. */
async function listen(
  url: string,
  isLast: (message: StreamMessage) => boolean,
  headers: Readonly<Record<string, string>> = {},
): Promise<StreamMessage[]> {
  const abort = new AbortController();
  const messages: StreamMessage[] = [];
  for await (const message of eventStream(url, abort.signal, headers)) {
    messages.push(message);
    if (isLast(message)) break;
  }
  abort.abort();
  return messages;
}

const endOf =
  (id: number) =>
  (message: StreamMessage): boolean =>
    message.event === "job" && jobOf(message).id === id && jobOf(message).outcome !== null;

test("a listener gets every state of a job in order, and after a reconnect continues without a gap or a repetition", async () => {
  const server = await start();
  const url = `${server.url}/api/v1/events`;
  const first = await seed(server, LAYER, { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 3 });
  const live = await listen(url, endOf(first));
  expect(live[0]?.event).toBe("snapshot");
  const second = await seed(server, LAYER, { gridSetId: "EPSG:4326", zoomStart: 0, zoomStop: 3 });
  const all = await listen(url, endOf(second), { "Last-Event-ID": live[0]?.id ?? "" });
  // Heard again from the first on: the same, and then the second job.
  expect(all.slice(0, live.length - 1)).toEqual(live.slice(1));
  const ids = all.map(({ id }) => Number(id.split("-").at(-1)));
  expect(ids[0]).toBeGreaterThan(0);
  // Events of other types have the numbers between them. test/engine/monitoring/server-events.test.ts counts all.
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  const states = all.map(jobOf).filter(({ id }) => id === second);
  expect(states[0]).toMatchObject({ state: "pending", outcome: null });
  expect(states.at(-1)).toMatchObject({ state: "done", outcome: "done" });
  const counts = states.map(({ tiles }) => tiles.stored + tiles.skipped);
  expect(counts).toEqual([...counts].sort((a, b) => a - b));
  const filtered = await listen(`${url}?job=${second}`, endOf(second), { "Last-Event-ID": live[0]?.id ?? "" });
  expect(new Set(filtered.map((message) => jobOf(message).id))).toEqual(new Set([second]));
  // The removal from the history is an event too.
  const forgotten = listen(`${url}?lastEventId=${all.at(-1)?.id}`, ({ event }) => event === "forgotten");
  expect((await fetch(`${server.url}/api/v1/jobs/${first}`, { method: "DELETE" })).status).toBe(204);
  expect((await forgotten).map(({ data }) => data)).toEqual([`{"id":${first}}`]);
});

test("an event id from before a restart gets a snapshot with the paused jobs; the shutdown ends the stream", async () => {
  const server = await start();
  const id = await seed(server, LAYER, { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 9 });
  const before = await listen(`${server.url}/api/v1/events`, ({ event }) => event === "job");
  const paused = await fetch(`${server.url}/api/v1/jobs/${id}/pause`, { method: "POST" });
  expect(paused.status).toBe(200);
  const again = await server.restart("SIGKILL");
  running.server = again;
  const after = await listen(`${again.url}/api/v1/events`, () => true, { "Last-Event-ID": before.at(-1)?.id ?? "" });
  expect(after[0]?.event).toBe("snapshot");
  const snapshot: { jobs: JobJson[]; complete: boolean } = JSON.parse(after[0]?.data ?? "");
  expect(snapshot).toMatchObject({ complete: true, jobs: [{ id, state: "pending", paused: true }] });
  let ended: Promise<number | null> | undefined;
  for await (const _ of eventStream(`${again.url}/api/v1/events`, new AbortController().signal))
    ended ??= again.kill("SIGTERM");
  expect(await ended).toBe(0);
});

test("a job that is ended while it works was running until then", async () => {
  const server = await start();
  for (const threadCount of [1, 3]) {
    const id = await seed(server, LAYER, { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 6, threadCount });
    await until("it works", async () => ((await job(server, id)).tiles.stored > 0 ? true : undefined));
    let kill: Promise<Response> | undefined;
    const reported = await listen(`${server.url}/api/v1/events?job=${id}`, (message) => {
      kill ??= fetch(`${server.url}/rest/seed`, { method: "POST", body: "kill_all=all" });
      return endOf(id)(message);
    });
    await kill;
    const states = reported.filter(({ event }) => event === "job").map((message) => jobOf(message).state);
    expect(states.at(-1)).toBe("aborted");
    expect(new Set(states.slice(0, -1))).not.toContain("pending");
  }
});
