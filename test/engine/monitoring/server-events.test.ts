import { expect, test } from "vitest";
import { eventStream, type StreamMessage } from "../../support/network/event-stream.ts";
import { reload } from "../../support/server/reload.ts";
import { closedAfterEach } from "../../support/server/running.ts";
import { startServer, type TestServer } from "../../support/server/server.ts";
import { wmsConfiguration } from "../../support/server/wms-configuration.ts";
import { until } from "../../support/until.ts";
import { startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();
const LAYER = "ws:roads";
const OTHERS = "truncation,schedule,upstream,quota,configuration,activity";

async function start(more = ""): Promise<TestServer> {
  running.upstream = await startUpstream();
  running.server = await startServer({ configuration: wmsConfiguration(running.upstream.url, undefined, more) });
  return running.server;
}

/** Listens to a stream, and stores its events. */
async function listen(server: TestServer, query: string) {
  const abort = new AbortController();
  const messages: StreamMessage[] = [];
  const ended = (async () => {
    for await (const message of eventStream(`${server.url}/api/v1/events?${query}`, abort.signal))
      messages.push(message);
  })().catch(() => undefined);
  const dataOf = (event: string) => messages.filter((one) => one.event === event).map(({ data }) => JSON.parse(data));
  await until("the stream has begun", async () => (messages.length > 0 ? true : undefined));
  return {
    messages,
    dataOf,
    /** Waits until the stream has sent so many events of a type, and returns their data. */
    async received(event: string, count: number) {
      await until(`${count} events ${event}`, async () => (dataOf(event).length >= count ? true : undefined));
      expect(dataOf(event)).toHaveLength(count);
      return dataOf(event);
    },
    stop: async () => {
      abort.abort();
      await ended;
    },
  };
}

async function send(server: TestServer, method: string, path: string, body?: object) {
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(`${server.url}/api/v1${path}`, { method, ...init });
  expect([path, response.status]).toEqual([path, expect.any(Number)]);
  expect(response.status, `${method} ${path}`).toBeLessThan(300);
  return JSON.parse((await response.text()) || "null");
}

const tile = async (server: TestServer, z: number): Promise<number> => {
  const response = await fetch(`${server.url}/xyz/${LAYER}/${z}/0/0.png`);
  await response.arrayBuffer();
  return response.status;
};

test("a truncation is sent when it is made, undone and reclaimed, as GET answers it", async () => {
  const server = await start();
  const stream = await listen(server, "types=truncation");
  expect(await tile(server, 1)).toBe(200);
  const first = await send(server, "POST", "/truncations", { layer: LAYER });
  const undone = await send(server, "POST", `/truncations/${first.id}/undo`);
  const second = await send(server, "POST", "/truncations", { layer: LAYER });
  const reclaimed = await send(server, "DELETE", `/truncations/${second.id}`);
  const soft = await send(server, "POST", "/truncations", { layer: LAYER, mode: "soft" });
  const softUndone = await send(server, "POST", `/truncations/${soft.id}/undo`);
  const sent = await stream.received("truncation", 6);
  expect(sent).toEqual([first, undone, second, reclaimed, soft, softUndone]);
  expect(sent.map(({ state }) => state)).toEqual(["kept", "undone", "kept", "reclaimed", "kept", "undone"]);
  await stream.stop();
});

test("a truncation whose time to undo has passed is sent as reclaimed", async () => {
  const server = await start("store: { undoSeconds: 1 }\n");
  const stream = await listen(server, `types=truncation&layer=${encodeURIComponent(LAYER)}`);
  expect(await tile(server, 1)).toBe(200);
  const { id } = await send(server, "POST", "/truncations", { layer: LAYER });
  expect(await stream.received("truncation", 2)).toMatchObject([
    { id, state: "kept" },
    { id, state: "reclaimed", endedBy: null },
  ]);
  await stream.stop();
});

test("changes of schedules, of the quota, of the configuration and requests for changes are sent", async () => {
  const server = await start();
  const { url = "" } = running.upstream ?? {};
  const stream = await listen(server, `types=${OTHERS}`);
  await send(server, "PUT", "/schedules/nightly", { cron: "@yearly", job: { layer: LAYER, zoomStop: 0 } });
  for (const action of ["pause", "resume", "run"]) await send(server, "POST", `/schedules/nightly/${action}`);
  await send(server, "DELETE", "/schedules/nightly");
  expect(await stream.received("schedule", 5)).toEqual(Array(5).fill({ name: "nightly" }));
  const quota = await send(server, "PATCH", "/quota", { globalQuota: { value: 20, units: "MiB" } });
  expect(await stream.received("quota", 1)).toEqual([quota]);
  await reload(server, wmsConfiguration(url));
  await reload(server, wmsConfiguration(url, [{ name: LAYER }, { name: "b" }]));
  expect(await stream.received("configuration", 1), "the first reload has changed nothing").toEqual([{ layers: 2 }]);
  const activity = await stream.received("activity", 8);
  const { activity: listed } = await send(server, "GET", "/activity");
  expect(activity).toEqual([...listed].reverse());
  expect(stream.dataOf("job")).toEqual([]);
  await stream.stop();
});

test("an upstream is sent when it answers first, when it is down, and when it is back", async () => {
  const server = await start();
  const { upstream } = running;
  const stream = await listen(server, "types=upstream,job");
  expect(await tile(server, 1)).toBe(200);
  await stream.received("upstream", 1);
  await upstream?.down();
  await until("it is down", async () => ((await tile(server, 2)) === 503 ? true : undefined));
  await stream.received("upstream", 2);
  await upstream?.up();
  await until("it is back", async () => ((await tile(server, 3)) === 200 ? true : undefined));
  const sent = await stream.received("upstream", 3);
  expect(sent.map(({ state, layers }) => [state, layers])).toEqual(["up", "down", "up"].map((s) => [s, [LAYER]]));
  const { upstreams } = await send(server, "GET", "/upstreams");
  expect(Object.keys(sent[0])).toEqual(Object.keys(upstreams[0]));
  expect(sent[2].since).toBe(upstreams[0].since);
  await stream.stop();
});

test("all types share one numbering: a client that reconnects with other types misses none of them", async () => {
  const server = await start();
  const all = await listen(server, `types=job,${OTHERS}`);
  const from = all.messages[0]?.id ?? "";
  await send(server, "POST", "/jobs", { layer: LAYER, zoomStop: 0 });
  await send(server, "PATCH", "/quota", { globalQuota: { value: 30 } });
  await until("all is done", async () =>
    all.dataOf("activity").length === 2 && all.dataOf("job").some(({ outcome }) => outcome === "done")
      ? true
      : undefined,
  );
  const numbers = all.messages.map(({ id }) => Number(id.split("-").at(-1)));
  expect(numbers).toEqual(numbers.map((_, i) => (numbers[0] ?? 0) + i));
  const again = await listen(server, `types=quota,activity&lastEventId=${from}`);
  await again.received("activity", 2);
  expect(again.messages).toEqual(all.messages.filter(({ event }) => event === "quota" || event === "activity"));
  const standard = await listen(server, `lastEventId=${from}`);
  await until("the job is sent", async () =>
    standard.dataOf("job").some(({ outcome }) => outcome === "done") ? true : undefined,
  );
  expect(new Set(standard.messages.map(({ event }) => event))).toEqual(new Set(["job"]));
  for (const stream of [all, again, standard]) await stream.stop();
});

test("tiles that are stored or fail are sent as cells, without a number, at most twice a second", async () => {
  const server = await start();
  const { upstream } = running;
  if (upstream === undefined) throw new Error("no upstream");
  const stream = await listen(server, `types=tiles&layer=${encodeURIComponent(LAYER)}`);
  interface Change {
    readonly z: number;
    readonly cells: readonly (readonly [number, number])[];
  }
  const changes = () => stream.dataOf("tiles").flatMap((data) => data.changes as readonly Change[]);
  const hasCell = (z: number, cx: number, cy: number) => async () =>
    changes().some((one) => one.z === z && one.cells.some(([x, y]) => x === cx && y === cy)) || undefined;
  expect(await tile(server, 9)).toBe(200);
  // Row 0 of an XYZ address is the top one: row 511 from the bottom.
  await until("the stored cell", hasCell(9, 0, 31));
  expect(changes()[0]).toMatchObject({ layer: LAYER, gridSet: "EPSG:900913", format: "image/png", parameters: {} });
  upstream.behaviour = (_, response) => {
    response.writeHead(404).end();
    return "handled";
  };
  await tile(server, 8);
  await until("the failed cell", hasCell(8, 0, 15));
  upstream.behaviour = () => "render";
  const before = stream.dataOf("tiles").length;
  const begunMs = performance.now();
  const { id } = await send(server, "POST", "/jobs", { layer: LAYER, gridSet: "EPSG:4326", zoomStop: 5 });
  const done = await send(server, "GET", `/jobs/${id}?wait=60`);
  expect(done.outcome).toBe("done");
  await until("the last level", async () => changes().some(({ z }) => z === 5) || undefined);
  const sent = stream.dataOf("tiles").length - before;
  expect(sent).toBeLessThanOrEqual(Math.ceil((performance.now() - begunMs) / 500) + 1);
  expect(new Set(stream.messages.filter(({ event }) => event === "tiles").map((one) => one.id)).size).toBe(1);
  await stream.stop();
});
