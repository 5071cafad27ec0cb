import { expect, test } from "vitest";
import { formatNamed, layerNamed } from "../../../test/support/layer.ts";
import type { TileIndex } from "../../grid/grid-set.ts";
import { machineClock } from "../../lib/time/machine-clock.ts";
import { type Leave, NO_SIZE } from "../admission.ts";
import type { LedgerAccess } from "../ledger-access.ts";
import { NO_MEASURES, type RenderOrder } from "../render-order.ts";
import type { BatchClient, RenderClient, RendererResult, Renderers } from "../renderers.ts";
import { UpstreamLimits } from "../upstream/upstream-limits.ts";
import { UpstreamMeter } from "../upstream/upstream-meter.ts";
import { RenderDispatcher } from "./render-dispatcher.ts";
import { RenderThrottle } from "./render-throttle.ts";

const LAYER = "a";
const RESERVATION: Leave = { id: 7, ...NO_SIZE };
const ORDER: RenderOrder = {
  tileSet: { layer: LAYER, gridSet: "EPSG:4326", format: formatNamed("image/png").mimeType, parametersId: "" },
  parameters: {},
  rect: { z: 0, minX: 0, minY: 0, maxX: 0, maxY: 0 },
  wanted: null,
};

/**
 * Renders over one connection. The ledger answers when the test allows it, and the renderer stores the tiles that it
 * may store.
 */
function rendersWith(
  ledger: Pick<LedgerAccess, "open">,
  answered: Promise<void> = Promise.resolve(),
  renderMetatile?: Renderers["renderMetatile"],
  request?: Renderers["query"],
  renderBatch?: Renderers["renderBatch"],
) {
  const events: string[] = [];
  const unused = (): never => {
    throw new Error("not asked for");
  };
  const renderers: Renderers = {
    async renderMetatile({ rect }, _generation, client) {
      events.push(`render ${rect.z}/${rect.minX}`);
      const reservation = client.openCells?.();
      await answered;
      const stored = reservation === undefined || (await reservation) !== undefined;
      events.push(stored ? "kept" : "not kept");
      const written = stored ? [{ x: 0, y: 0, z: 0, bytes: 1, replaced: undefined }] : [];
      const { missed } = client;
      if (missed !== undefined) client.report({ written, tiles: [{ ...missed, bytes: new Uint8Array(1) }] });
      return {
        kind: "rendered",
        written: [],
        stale: !stored,
        storeFailure: undefined,
        ...NO_MEASURES,
      };
    },
    ...(renderMetatile === undefined ? {} : { renderMetatile }),
    renderBatch: renderBatch ?? unused,
    raiseGeneration: async () => undefined,
    outdate: async (_, metatiles) =>
      void events.push(`outdate ${metatiles.map(({ rect }) => `${rect.z}/${rect.minX}`).join(" ")}`),
    query: request ?? unused,
    probe: unused,
    test: unused,
    sweep: unused,
    compose: unused,
  };
  const layers = [LAYER, "b"].map((name) => layerNamed(name));
  const renders = new RenderDispatcher({
    failedForUser: () => undefined,
    renderers,
    ledger: {
      ...ledger,
      closeCells: (id) => void events.push(`close ${id}`),
      notStored: () => undefined,
      wrote: (_, tiles) => void events.push(`wrote ${tiles.map(({ x, y }) => `${x}/${y}`).join(" ")}`),
      lost: () => void events.push("lost"),
    },
    memory: { clear() {}, remove() {}, expireBefore() {} },
    upstreamLimits: new UpstreamLimits(machineClock),
    meter: new UpstreamMeter(),
    throttle: new RenderThrottle({ share: () => 1, usersActive: () => false, clock: machineClock }),
    clock: machineClock,
  });
  renders.configure(layers);
  return { renders, events };
}

const stays = () => new AbortController().signal;
const missed = { x: 0, y: 0, z: 0 };

test("a user's render begins while its cells are opened, keeps nothing before they are, and closes them after it has told", async () => {
  let opened = (_reservation: Leave | undefined): void => undefined;
  const { renders, events } = rendersWith({ open: () => new Promise((resolve) => (opened = resolve)) });
  const rendered = renders.renderForUser(ORDER, missed, "client", stays());
  await expect.poll(() => events).toEqual(["render 0/0"]);
  opened(RESERVATION);
  expect(await rendered).toMatchObject({ kind: "rendered", tiles: [{ x: 0, y: 0 }] });
  await renders.idle();
  expect(events).toEqual(["render 0/0", "kept", "wrote 0/0", "close 7"]);
});

test("while a user waits for a connection no cells are opened, and none when the user has gone", async () => {
  let opened = 0;
  const open = async () => {
    opened++;
    return RESERVATION;
  };
  let answer = (): void => undefined;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const { renders, events } = rendersWith({ open }, answered);
  const first = renders.renderForUser(ORDER, missed, "client", stays());
  await expect.poll(() => events).toEqual(["render 0/0"]);
  const gone = new AbortController();
  const second = renders.renderForUser({ ...ORDER, rect: { ...ORDER.rect, z: 5 } }, missed, "client", gone.signal);
  gone.abort();
  expect(await second).toEqual({ kind: "cancelled" });
  answer();
  await first;
  expect(opened).toBe(1);
});

test("a truncation that comes before the word of the cells leaves nothing of a render that has begun", async () => {
  let opened = (_reservation: Leave | undefined): void => undefined;
  const { renders, events } = rendersWith({ open: () => new Promise((resolve) => (opened = resolve)) });
  const rendered = renders.renderForUser(ORDER, missed, "client", stays());
  await expect.poll(() => events).toEqual(["render 0/0"]);
  renders.renew(LAYER);
  opened(RESERVATION);
  expect(await rendered).toMatchObject({ kind: "rendered", tiles: [{ x: 0, y: 0 }] });
  await renders.idle();
  expect(events).toEqual(["render 0/0", "not kept", "close 7"]);
});

test.each([
  ["that is removed and comes back meanwhile leaves nothing", [], "not kept"],
  ["that another reload leaves as it is is kept", [layerNamed(LAYER)], "kept"],
] as const)("a render of a layer %s", async (_, between, outcome) => {
  let opened = (_reservation: Leave | undefined): void => undefined;
  const { renders, events } = rendersWith({ open: () => new Promise((resolve) => (opened = resolve)) });
  const rendered = renders.renderForUser(ORDER, missed, "client", stays());
  await expect.poll(() => events).toEqual(["render 0/0"]);
  renders.configure(between);
  renders.configure([layerNamed(LAYER)]);
  opened(RESERVATION);
  expect(await rendered).toMatchObject({ kind: "rendered" });
  await renders.idle();
  expect(events).toContain(outcome);
});

test.each([
  ["is removed and comes back meanwhile leaves nothing", LAYER, "not kept"],
  ["stays while another one is removed and comes back is kept", "b", "kept"],
] as const)("a render of a layer that %s, one change after the other", async (_, name, outcome) => {
  let opened = (_reservation: Leave | undefined): void => undefined;
  const { renders, events } = rendersWith({ open: () => new Promise((resolve) => (opened = resolve)) });
  const rendered = renders.renderForUser(ORDER, missed, "client", stays());
  await expect.poll(() => events).toEqual(["render 0/0"]);
  const [own, other] = [layerNamed(name), layerNamed(name === "b" ? LAYER : "b")];
  renders.configureLayer([other], name, undefined);
  renders.configureLayer([other, own], name, own);
  opened(RESERVATION);
  expect(await rendered).toMatchObject({ kind: "rendered" });
  await renders.idle();
  expect(events).toContain(outcome);
});

test("where nothing may be stored, the user gets the picture, and no job counts it as stored", async () => {
  const { renders, events } = rendersWith({ open: async () => undefined });
  expect(await renders.renderForUser(ORDER, missed, "client", stays())).toMatchObject({
    kind: "rendered",
    tiles: [{}],
  });
  expect(events).toEqual(["render 0/0", "not kept"]);
});

test("nothing of a render is stored when the coordinator has ended; the user gets the picture", async () => {
  const { renders, events } = rendersWith({ open: () => Promise.reject(new Error("the coordinator has ended")) });
  expect(await renders.renderForUser(ORDER, missed, "client", stays())).toMatchObject({
    kind: "rendered",
    tiles: [{}],
  });
  await renders.idle();
  expect(events).toEqual(["render 0/0", "not kept"]);
});

test("a client that disconnects while its render waits for a connection ends the render, unless another client waits for it", async () => {
  let answer = (): void => undefined;
  const { renders, events } = rendersWith(
    { open: async () => RESERVATION },
    new Promise((resolve) => {
      answer = resolve;
    }),
  );
  const renderFor = (x: number, user: AbortController) =>
    renders.renderForUser(
      { ...ORDER, rect: { z: 1, minX: x, minY: 0, maxX: x, maxY: 0 } },
      { x, y: 0, z: 1 },
      "client",
      user.signal,
    );
  const [first, second, third, fourth] = [
    new AbortController(),
    new AbortController(),
    new AbortController(),
    new AbortController(),
  ] as const;
  // The upstream renders the metatile on the only connection.
  const sent = renderFor(0, first);
  await expect.poll(() => events).toEqual(["render 1/0"]);
  const waiting = renderFor(1, second);
  const shared = renderFor(2, third);
  const staying = renderFor(2, fourth);
  for (const user of [first, second, third]) user.abort();
  expect(await waiting).toEqual({ kind: "cancelled" });
  answer();
  expect(await sent, "it has been asked for").toMatchObject({ kind: "rendered" });
  expect(await staying).toMatchObject({ kind: "rendered" });
  expect(await shared).toMatchObject({ kind: "rendered" });
  expect(events.filter((event) => event.startsWith("render "))).toEqual(["render 1/0", "render 1/2"]);
});

/** A metatile of four tiles. Its render reports and ends when the test allows it. */
function stepwise() {
  const METATILE: RenderOrder = { ...ORDER, rect: { z: 1, minX: 0, minY: 0, maxX: 1, maxY: 1 } };
  const written = (x: number, y: number) => ({ x, y, z: 1, bytes: 1, replaced: undefined });
  let user: RenderClient | undefined;
  let end = (_result: RendererResult): void => undefined;
  const { renders, events } = rendersWith(
    { open: async () => RESERVATION },
    undefined,
    async (_order, _generation, requested) => {
      user = requested;
      const ended = new Promise<RendererResult>((resolve) => {
        end = resolve;
      });
      await requested?.openCells?.();
      return ended;
    },
  );
  return {
    renders,
    events,
    METATILE,
    begun: () => expect.poll(() => user?.missed).toBeDefined(),
    client: () => user,
    missed: () => user?.missed,
    store: (x: number, y: number) =>
      user?.report({
        written: [written(x, y)],
        tiles: x === user.missed?.x && y === user.missed.y ? [{ x, y, bytes: Uint8Array.of(x, y) }] : [],
      }),
    miss: (x: number, y: number) => renders.renderForUser(METATILE, { x, y, z: 1 }, "client", stays()),
    end: (result: Partial<RendererResult & { kind: "rendered" }> = {}) =>
      end({
        kind: "rendered",
        written: [],
        stale: false,
        storeFailure: undefined,
        ...NO_MEASURES,
        ...result,
      }),
    lose: () => end({ kind: "lost" }),
  };
}

test("a user is answered when the missed tile is stored, others when theirs is; the cells stay open for the rest", async () => {
  const { begun, renders, end, events, miss, missed: asked, store } = stepwise();
  const first = miss(1, 0);
  const second = miss(0, 1);
  const third = miss(1, 1);
  await begun();
  expect(asked()).toEqual({ x: 1, y: 0, z: 1 });
  store(1, 0);
  expect(await first).toEqual({ kind: "rendered", tiles: [{ x: 1, y: 0, bytes: Uint8Array.of(1, 0) }] });
  store(0, 1);
  expect(await second).toEqual({ kind: "stored" });
  // A user who requests a tile that is already stored does not wait.
  expect(await miss(0, 1)).toEqual({ kind: "stored" });
  expect(events).toEqual(["wrote 1/0", "wrote 0/1"]);
  let isIdle = false;
  const idle = renders.idle().then(() => {
    isIdle = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isIdle, "a shutdown waits for the rest").toBe(false);
  store(1, 1);
  store(0, 0);
  end();
  await idle;
  expect(await third).toEqual({ kind: "stored" });
  expect(events).toEqual(["wrote 1/0", "wrote 0/1", "wrote 1/1", "wrote 0/0", "close 7"]);
});

test("a user who joins a job's render is answered when their tile is stored; the job counts all tiles", async () => {
  const { METATILE, client, renders, end, events, store } = stepwise();
  const order = { ...METATILE, leave: { id: 3, ...NO_SIZE } };
  const job = renders.render(order, stays());
  await expect.poll(client).toMatchObject({ who: "job", missed: undefined, openCells: undefined });
  const joins: TileIndex[] = [];
  client()?.whenUserJoins((tile) => joins.push(tile));
  const user = renders.renderForUser(METATILE, { x: 1, y: 1, z: 1 }, "client", stays());
  const other = renders.renderForUser(METATILE, { x: 0, y: 0, z: 1 }, "client", stays());
  await expect.poll(() => joins, { message: "the renderer is told of the first user" }).toEqual([{ x: 1, y: 1, z: 1 }]);
  store(1, 1);
  expect(await user).toEqual({ kind: "stored" });
  store(0, 0);
  expect(await other).toEqual({ kind: "stored" });
  end({ written: [{ x: 1, y: 0, z: 1, bytes: 5, replaced: undefined }] });
  expect(await job).toMatchObject({ kind: "stored", bytes: 7 });
  expect(events, "the job opens and closes its cells itself").toEqual(["wrote 1/1", "wrote 0/0", "wrote 1/0"]);
});

test("a user who joins a batch is answered when their tile is stored, before the end of the batch", async () => {
  let batch: BatchClient | undefined;
  let end = (_results: readonly RendererResult[]): void => undefined;
  const { renders, events } = rendersWith(
    { open: async () => RESERVATION },
    undefined,
    undefined,
    undefined,
    (_o, _g, client) => {
      batch = client;
      return new Promise((resolve) => {
        end = resolve;
      });
    },
  );
  const orders = [0, 1].map((x) => ({ ...ORDER, rect: { z: 1, minX: x, minY: 0, maxX: x, maxY: 0 } }));
  const job = renders.renderBatch(orders, stays());
  await expect.poll(() => batch).toBeDefined();
  const joins: unknown[] = [];
  batch?.whenUserJoins((order, tile) => joins.push([order, tile.x]));
  const second = { ...ORDER, rect: { z: 1, minX: 1, minY: 0, maxX: 1, maxY: 0 } };
  const user = renders.renderForUser(second, { x: 1, y: 0, z: 1 }, "client", stays());
  await expect.poll(() => joins).toEqual([[1, 1]]);
  batch?.report(1, { written: [{ x: 1, y: 0, z: 1, bytes: 4, replaced: undefined }], tiles: [] });
  expect(await user).toEqual({ kind: "stored" });
  const rendered = { kind: "rendered", stale: false, storeFailure: undefined, ...NO_MEASURES } as const;
  end([
    { ...rendered, written: [{ x: 0, y: 0, z: 1, bytes: 3, replaced: undefined }] },
    { ...rendered, written: [] },
  ]);
  expect(await job).toMatchObject([
    { kind: "stored", bytes: 3 },
    { kind: "stored", bytes: 4 },
  ]);
  expect(events).toEqual(["wrote 1/0", "wrote 0/0"]);
});

test("a job that joins a user's render counts the tiles that were stored before its end", async () => {
  const { METATILE, begun, renders, end, miss, store } = stepwise();
  const first = miss(1, 0);
  await begun();
  const rendered = renders.render(METATILE, stays());
  store(1, 0);
  await first;
  store(0, 0);
  end();
  expect(await rendered).toMatchObject({ kind: "stored", bytes: 2 });
});

test("a renderer that dies after the first answer has its cells counted again, and the rest is rendered anew", async () => {
  const { renders, end, events, begun, lose, miss, missed: asked, store } = stepwise();
  const first = miss(1, 0);
  const second = miss(0, 0);
  await begun();
  store(1, 0);
  expect(await first).toMatchObject({ kind: "rendered" });
  lose();
  await expect.poll(asked).toEqual({ x: 0, y: 0, z: 1 });
  expect(events).toEqual(["wrote 1/0", "lost", "close 7"]);
  store(0, 0);
  expect(await second).toMatchObject({ kind: "rendered" });
  end();
  await renders.idle();
});

test("a tile that is reported after a reseed began reaches its user, and no memory tier takes it", async () => {
  const { begun, renders, end, miss, store } = stepwise();
  const first = miss(1, 0);
  await begun();
  await renders.startGeneration(LAYER);
  store(1, 0);
  expect(await first).toMatchObject({ kind: "rendered", isStale: true });
  end({ stale: true });
  await renders.idle();
});

test("who misses a tile after a truncation has a render of their own, whatever the one before has stored", async () => {
  const { begun, renders, end, miss, missed: asked, store } = stepwise();
  const first = miss(1, 0);
  await begun();
  store(1, 0);
  await first;
  renders.renew(LAYER);
  const endFirst = end;
  const second = miss(0, 0);
  endFirst({ stale: true });
  await expect.poll(asked).toEqual({ x: 0, y: 0, z: 1 });
  store(0, 0);
  end();
  expect(await second).toMatchObject({ kind: "rendered", tiles: [{ x: 0, y: 0 }] });
});

test("a render of a layer that is blocked holds no connection: other layers of its upstream are rendered", async () => {
  const { renders, events } = rendersWith({ open: async () => RESERVATION });
  const other = { ...ORDER, tileSet: { ...ORDER.tileSet, layer: "b" }, rect: { ...ORDER.rect, z: 2 } };
  await renders.block(LAYER);
  const blocked = renders.renderForUser(ORDER, missed, "client", stays());
  const job = renders.render({ ...ORDER, rect: { ...ORDER.rect, z: 3 } }, stays());
  expect(await renders.renderForUser(other, missed, "client", stays())).toMatchObject({ kind: "rendered" });
  expect(events).not.toContain("render 0/0");
  const gone = new AbortController();
  const left = renders.renderForUser({ ...ORDER, rect: { ...ORDER.rect, z: 4 } }, missed, "client", gone.signal);
  gone.abort();
  expect(await left).toEqual({ kind: "cancelled" });
  renders.unblock(LAYER);
  expect(await blocked).toMatchObject({ kind: "rendered" });
  expect(await job).toMatchObject({ kind: "stored" });
  expect(events).toContain("render 0/0");
});

test("a layer that is blocked while its render waits for a connection leaves the connection to others", async () => {
  let answer = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const { renders, events } = rendersWith({ open: async () => RESERVATION }, held);
  const of = (layer: string, z: number) =>
    renders.renderForUser(
      { ...ORDER, tileSet: { ...ORDER.tileSet, layer }, rect: { ...ORDER.rect, z } },
      missed,
      "client",
      stays(),
    );
  const holding = of("b", 2);
  await expect.poll(() => events).toEqual(["render 2/0"]);
  const waiting = of(LAYER, 3);
  const behind = of("b", 4);
  await renders.block(LAYER);
  answer();
  expect(await holding).toMatchObject({ kind: "rendered" });
  expect(await behind).toMatchObject({ kind: "rendered" });
  expect(events.filter((event) => event.startsWith("render "))).toEqual(["render 2/0", "render 4/0"]);
  renders.unblock(LAYER);
  expect(await waiting).toMatchObject({ kind: "rendered" });
});

test("a user of a layer that has just been removed gets that reason, and not that the source has no tile", async () => {
  const { renders } = rendersWith({ open: async () => RESERVATION });
  const order = { ...ORDER, tileSet: { ...ORDER.tileSet, layer: "removed" } };
  expect(await renders.renderForUser(order, missed, "client", stays())).toEqual({ kind: "layer_removed" });
});

test("a question to an upstream ends with its client, while it waits for a connection and after it was sent", async () => {
  const sent: AbortSignal[] = [];
  const ask: Renderers["query"] = (_layer, _question, signal) =>
    new Promise((resolve) => {
      sent.push(signal);
      signal.addEventListener("abort", () => resolve({ kind: "cancelled" }));
    });
  const { renders } = rendersWith({ open: async () => RESERVATION }, undefined, undefined, ask);
  const legend = { kind: "legend", style: "", format: "image/png", options: {} } as const;
  const clients = Array.from({ length: 3 }, () => new AbortController());
  const answers = clients.map(({ signal }) => renders.queryUpstream(layerNamed(LAYER), legend, "client", signal));
  await expect.poll(() => sent).toHaveLength(1);
  clients[1]?.abort(new Error("gone"));
  expect(await answers[1]).toEqual({ kind: "cancelled" });
  expect(sent).toHaveLength(1);
  clients[0]?.abort(new Error("gone"));
  expect(await answers[0]).toEqual({ kind: "cancelled" });
  await expect.poll(() => sent).toHaveLength(2);
  clients[2]?.abort(new Error("gone"));
  expect(await answers[2]).toEqual({ kind: "cancelled" });
  expect(await renders.queryUpstream(layerNamed(LAYER), legend, "client", AbortSignal.abort())).toEqual({
    kind: "cancelled",
  });
  expect(sent).toHaveLength(2);
});

/** The layer of a waiting user is removed by a reload; the other layer `b` stays. */
const REMAINING = [layerNamed("b")];

const ofLayer = (layer: string, z: number): RenderOrder => ({
  ...ORDER,
  tileSet: { ...ORDER.tileSet, layer },
  rect: { ...ORDER.rect, z },
});

const legend = { kind: "legend", style: "", format: "image/png", options: {} } as const;

test("a user who waits for a connection gets the answer of a removed layer as soon as a reload removes the layer", async () => {
  const { renders, events } = rendersWith({ open: async () => RESERVATION }, new Promise(() => {}));
  void renders.renderForUser(ofLayer("b", 2), missed, "client", stays());
  await expect.poll(() => events).toEqual(["render 2/0"]);
  const waiting = renders.renderForUser(ofLayer(LAYER, 3), missed, "client", stays());
  const joined = renders.renderForUser(ofLayer(LAYER, 3), { ...missed, x: 1 }, "other", stays());
  void renders.render(ofLayer(LAYER, 4), stays());
  const joinedJob = renders.renderForUser(ofLayer(LAYER, 4), missed, "client", stays());
  const asking = renders.queryUpstream(layerNamed(LAYER), legend, "client", stays());
  renders.configure(REMAINING);
  for (const user of [waiting, joined, joinedJob, asking]) expect(await user).toEqual({ kind: "layer_removed" });
  expect(events.filter((event) => event.startsWith("render "))).toEqual(["render 2/0"]);
});

test("a user of a blocked layer gets the answer of a removed layer as soon as a reload removes the layer", async () => {
  const { renders, events } = rendersWith({ open: async () => RESERVATION });
  await renders.block(LAYER);
  const waiting = renders.renderForUser(ORDER, missed, "client", stays());
  renders.configure(REMAINING);
  expect(await waiting).toEqual({ kind: "layer_removed" });
  expect(events).not.toContain("render 0/0");
});

test.each([
  { kind: "cancelled" },
  { kind: "lost" },
  { kind: "failed", failure: "timeout", message: "no answer", retryAfterMs: undefined, ...NO_MEASURES },
] as const)(
  "a render that is $kind after its layer was removed answers its users as a removed layer",
  async (result) => {
    let end = (_result: RendererResult): void => undefined;
    const { renders, events } = rendersWith({ open: async () => RESERVATION }, undefined, async ({ rect }) => {
      events.push(`render ${rect.z}`);
      return new Promise<RendererResult>((resolve) => {
        end = resolve;
      });
    });
    const first = renders.renderForUser(ORDER, missed, "client", stays());
    const second = renders.renderForUser(ORDER, { ...missed, x: 1 }, "client", stays());
    await expect.poll(() => events).toEqual(["render 0"]);
    renders.configure(REMAINING);
    end(result);
    expect(await first).toEqual({ kind: "layer_removed" });
    expect(await second).toEqual({ kind: "layer_removed" });
  },
);

test("a query to the upstream that ends after its layer was removed is answered as a removed layer", async () => {
  let end = (): void => undefined;
  const { renders } = rendersWith(
    { open: async () => RESERVATION },
    undefined,
    undefined,
    () =>
      new Promise((resolve) => {
        end = () => resolve({ kind: "cancelled" });
      }),
  );
  const asking = renders.queryUpstream(layerNamed(LAYER), legend, "client", stays());
  await new Promise((resolve) => setImmediate(resolve));
  renders.configure(REMAINING);
  end();
  expect(await asking).toEqual({ kind: "layer_removed" });
});

test("a render of a job is answered as cancelled by its signal, and as removed by a reload", async () => {
  const { renders, events } = rendersWith({ open: async () => RESERVATION }, new Promise(() => {}));
  void renders.renderForUser(ofLayer("b", 2), missed, "client", stays());
  await expect.poll(() => events).toEqual(["render 2/0"]);
  const stop = new AbortController();
  const stopped = renders.render(ofLayer(LAYER, 3), stop.signal);
  const removed = renders.render(ofLayer(LAYER, 4), stays());
  stop.abort();
  expect(await stopped).toEqual({ kind: "cancelled" });
  renders.configure(REMAINING);
  expect(await removed).toEqual({ kind: "layer_removed" });
});

test("an aborted render of which a put has no answer is counted from the store, and its reservation is given back", async () => {
  let sent = (): void => undefined;
  const isSent = new Promise<void>((resolve) => {
    sent = resolve;
  });
  const renderMetatile = async (_: RenderOrder, _generation: number, client: RenderClient, signal: AbortSignal) => {
    await client.openCells?.();
    sent();
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    const written = [{ x: 0, y: 0, z: 0, bytes: 1, replaced: undefined }];
    const result: RendererResult = {
      kind: "rendered",
      written,
      isUncertain: true,
      stale: true,
      storeFailure: undefined,
      ...NO_MEASURES,
    };
    return result;
  };
  const { renders, events } = rendersWith({ open: async () => RESERVATION }, undefined, renderMetatile);
  void renders.renderForUser(ORDER, missed, "client", stays());
  await isSent;
  renders.cancelAll();
  await renders.idle();
  expect(events).toEqual(["wrote 0/0", "lost", "close 7"]);
});
