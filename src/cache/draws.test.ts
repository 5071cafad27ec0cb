import { expect, test } from "vitest";
import { formatNamed, layerNamed } from "../../test/support/layer.ts";
import type { DrawOrder } from "./draw.ts";
import { DrawPace } from "./draw-pace.ts";
import { Draws, type LedgerGate } from "./draws.ts";
import { Governors } from "./governors.ts";
import type { AskingUser, Painters, PaintResult } from "./painters.ts";
import { UpstreamMeter } from "./upstream-meter.ts";

const LAYER = "a";
const ORDER: DrawOrder = {
  tileSet: { layer: LAYER, gridSet: "EPSG:4326", format: formatNamed("image/png").mimeType, parametersId: "" },
  parameters: {},
  rect: { z: 0, minX: 0, minY: 0, maxX: 0, maxY: 0 },
  wanted: null,
};

/** Draws over one connection, whose ledger answers when it is told to, and whose painter stores what it may. */
function drawsWith(
  ledger: Pick<LedgerGate, "open">,
  answered: Promise<void> = Promise.resolve(),
  paint?: Painters["paint"],
  ask?: Painters["ask"],
) {
  const events: string[] = [];
  const unused = (): never => {
    throw new Error("not asked for");
  };
  const painters: Painters = {
    async paint({ rect }, _generation, user) {
      events.push(`paint ${rect.z}/${rect.minX}`);
      await answered;
      const kept = user?.reservation === undefined || (await user.reservation) !== undefined;
      events.push(kept ? "kept" : "not kept");
      const written = kept ? [{ x: 0, y: 0, z: 0, bytes: 1, replaced: undefined }] : [];
      user?.report({ written, tiles: [{ ...user.missed, bytes: new Uint8Array(1) }] });
      return {
        kind: "painted",
        written: [],
        stale: !kept,
        storeFailure: undefined,
        upstreamMs: 1,
      };
    },
    ...(paint === undefined ? {} : { paint }),
    paintRun: unused,
    settle: async () => undefined,
    ask: ask ?? unused,
    sweep: unused,
    compose: unused,
  };
  const layers = [LAYER, "b"].map((name) => layerNamed(name));
  const draws = new Draws({
    painters,
    ledger: {
      ...ledger,
      closeCells: (id) => void events.push(`close ${id}`),
      notStored: () => undefined,
      wrote: (_, tiles) => void events.push(`wrote ${tiles.map(({ x, y }) => `${x}/${y}`).join(" ")}`),
      lost: () => void events.push("lost"),
    },
    memory: { clear() {}, forget() {}, expireBefore() {} },
    governors: new Governors(),
    meter: new UpstreamMeter(),
    pace: new DrawPace({ share: 1, usersActive: () => false, now: () => performance.now() }),
    layer: (name) => layers.find((layer) => layer.name === name),
    now: Date.now,
  });
  draws.configure(layers);
  return { draws, events };
}

const stays = () => new AbortController().signal;
const missed = { x: 0, y: 0, z: 0 };

test("a user's draw begins while its cells are opened, keeps nothing before they are, and closes them after it has told", async () => {
  let opened = (_id: number | undefined): void => undefined;
  const { draws, events } = drawsWith({ open: () => new Promise((resolve) => (opened = resolve)) });
  const drawn = draws.drawForUser(ORDER, missed, "client", stays());
  await expect.poll(() => events).toEqual(["paint 0/0"]);
  opened(7);
  expect(await drawn).toMatchObject({ kind: "painted", tiles: [{ x: 0, y: 0 }] });
  await draws.idle();
  expect(events).toEqual(["paint 0/0", "kept", "wrote 0/0", "close 7"]);
});

test("a truncation that comes before the word of the cells leaves nothing of a draw that has begun", async () => {
  let opened = (_id: number | undefined): void => undefined;
  const { draws, events } = drawsWith({ open: () => new Promise((resolve) => (opened = resolve)) });
  const drawn = draws.drawForUser(ORDER, missed, "client", stays());
  await expect.poll(() => events).toEqual(["paint 0/0"]);
  draws.renew(LAYER);
  opened(7);
  expect(await drawn).toMatchObject({ kind: "painted", tiles: [{ x: 0, y: 0 }] });
  await draws.idle();
  expect(events).toEqual(["paint 0/0", "not kept", "close 7"]);
});

test.each([
  ["that is removed and comes back meanwhile leaves nothing", [], "not kept"],
  ["that another reload leaves as it is is kept", [layerNamed(LAYER)], "kept"],
] as const)("a draw of a layer %s", async (_, between, outcome) => {
  let opened = (_id: number | undefined): void => undefined;
  const { draws, events } = drawsWith({ open: () => new Promise((resolve) => (opened = resolve)) });
  const drawn = draws.drawForUser(ORDER, missed, "client", stays());
  await expect.poll(() => events).toEqual(["paint 0/0"]);
  draws.configure(between);
  draws.configure([layerNamed(LAYER)]);
  opened(7);
  expect(await drawn).toMatchObject({ kind: "painted" });
  await draws.idle();
  expect(events).toContain(outcome);
});

test("where nothing may be kept the user has the picture, and nobody takes it for stored", async () => {
  const { draws, events } = drawsWith({ open: async () => undefined });
  expect(await draws.drawForUser(ORDER, missed, "client", stays())).toMatchObject({ kind: "painted", tiles: [{}] });
  expect(events).toEqual(["paint 0/0", "not kept"]);
});

test("of a draw nothing is kept when the keeper has ended; the user has the picture", async () => {
  const { draws, events } = drawsWith({ open: () => Promise.reject(new Error("the keeper has ended")) });
  expect(await draws.drawForUser(ORDER, missed, "client", stays())).toMatchObject({ kind: "painted", tiles: [{}] });
  await draws.idle();
  expect(events).toEqual(["paint 0/0", "not kept"]);
});

test("who goes away while a draw waits for a connection ends it, unless somebody else waits for it too", async () => {
  let answer = (): void => undefined;
  const { draws, events } = drawsWith(
    { open: async () => 7 },
    new Promise((resolve) => {
      answer = resolve;
    }),
  );
  const drawFor = (x: number, user: AbortController) =>
    draws.drawForUser(
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
  // The upstream draws it, on the only connection.
  const sent = drawFor(0, first);
  await expect.poll(() => events).toEqual(["paint 1/0"]);
  const waiting = drawFor(1, second);
  const shared = drawFor(2, third);
  const staying = drawFor(2, fourth);
  for (const user of [first, second, third]) user.abort();
  expect(await waiting).toEqual({ kind: "cancelled" });
  answer();
  expect(await sent, "it has been asked for").toMatchObject({ kind: "painted" });
  expect(await staying).toMatchObject({ kind: "painted" });
  expect(await shared).toMatchObject({ kind: "painted" });
  expect(events.filter((event) => event.startsWith("paint"))).toEqual(["paint 1/0", "paint 1/2"]);
});

/** A metatile of four tiles, whose render reports and ends when it is told to. */
function stepwise() {
  const METATILE: DrawOrder = { ...ORDER, rect: { z: 1, minX: 0, minY: 0, maxX: 1, maxY: 1 } };
  const written = (x: number, y: number) => ({ x, y, z: 1, bytes: 1, replaced: undefined });
  let user: AskingUser | undefined;
  let end = (_result: PaintResult): void => undefined;
  const { draws, events } = drawsWith({ open: async () => 7 }, undefined, async (_order, _generation, asked) => {
    user = asked;
    const ended = new Promise<PaintResult>((resolve) => {
      end = resolve;
    });
    await asked?.reservation;
    return ended;
  });
  return {
    draws,
    events,
    METATILE,
    begun: () => expect.poll(() => user?.missed).toBeDefined(),
    missed: () => user?.missed,
    store: (x: number, y: number) =>
      user?.report({
        written: [written(x, y)],
        tiles: x === user.missed.x && y === user.missed.y ? [{ x, y, bytes: Uint8Array.of(x, y) }] : [],
      }),
    miss: (x: number, y: number) => draws.drawForUser(METATILE, { x, y, z: 1 }, "client", stays()),
    end: (result: Partial<PaintResult & { kind: "painted" }> = {}) =>
      end({
        kind: "painted",
        written: [],
        stale: false,
        storeFailure: undefined,
        upstreamMs: 1,
        ...result,
      }),
    lose: () => end({ kind: "lost" }),
  };
}

test("a user is answered when the missed tile is stored, others when theirs is; the cells stay open for the rest", async () => {
  const { begun, draws, end, events, miss, missed: asked, store } = stepwise();
  const first = miss(1, 0);
  const second = miss(0, 1);
  const third = miss(1, 1);
  await begun();
  expect(asked()).toEqual({ x: 1, y: 0, z: 1 });
  store(1, 0);
  expect(await first).toEqual({ kind: "painted", tiles: [{ x: 1, y: 0, bytes: Uint8Array.of(1, 0) }] });
  store(0, 1);
  expect(await second).toEqual({ kind: "stored" });
  // Who comes late for a tile that is stored waits for nothing.
  expect(await miss(0, 1)).toEqual({ kind: "stored" });
  expect(events).toEqual(["wrote 1/0", "wrote 0/1"]);
  let isIdle = false;
  const idle = draws.idle().then(() => {
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

test("a job that joins a user's draw counts the tiles that were stored before its end", async () => {
  const { METATILE, begun, draws, end, miss, store } = stepwise();
  const first = miss(1, 0);
  await begun();
  const drawn = draws.draw(METATILE, stays());
  store(1, 0);
  await first;
  store(0, 0);
  end();
  expect(await drawn).toMatchObject({ kind: "stored", bytes: 2 });
});

test("a painter that dies after the first answer has its cells counted again, and the rest is drawn anew", async () => {
  const { draws, end, events, begun, lose, miss, missed: asked, store } = stepwise();
  const first = miss(1, 0);
  const second = miss(0, 0);
  await begun();
  store(1, 0);
  expect(await first).toMatchObject({ kind: "painted" });
  lose();
  await expect.poll(asked).toEqual({ x: 0, y: 0, z: 1 });
  expect(events).toEqual(["wrote 1/0", "lost", "close 7"]);
  store(0, 0);
  expect(await second).toMatchObject({ kind: "painted" });
  end();
  await draws.idle();
});

test("who misses a tile after a truncation has a draw of their own, whatever the one before has stored", async () => {
  const { begun, draws, end, miss, missed: asked, store } = stepwise();
  const first = miss(1, 0);
  await begun();
  store(1, 0);
  await first;
  draws.renew(LAYER);
  const endFirst = end;
  const second = miss(0, 0);
  endFirst({ stale: true });
  await expect.poll(asked).toEqual({ x: 0, y: 0, z: 1 });
  store(0, 0);
  end();
  expect(await second).toMatchObject({ kind: "painted", tiles: [{ x: 0, y: 0 }] });
});

test("a draw of a layer that is blocked holds no connection: other layers of its upstream are drawn", async () => {
  const { draws, events } = drawsWith({ open: async () => 7 });
  const other = { ...ORDER, tileSet: { ...ORDER.tileSet, layer: "b" }, rect: { ...ORDER.rect, z: 2 } };
  await draws.pause(LAYER);
  const blocked = draws.drawForUser(ORDER, missed, "client", stays());
  const job = draws.draw({ ...ORDER, rect: { ...ORDER.rect, z: 3 } }, stays());
  expect(await draws.drawForUser(other, missed, "client", stays())).toMatchObject({ kind: "painted" });
  expect(events).not.toContain("paint 0/0");
  const gone = new AbortController();
  const left = draws.drawForUser({ ...ORDER, rect: { ...ORDER.rect, z: 4 } }, missed, "client", gone.signal);
  gone.abort();
  expect(await left).toEqual({ kind: "cancelled" });
  draws.resume(LAYER);
  expect(await blocked).toMatchObject({ kind: "painted" });
  expect(await job).toMatchObject({ kind: "stored" });
  expect(events).toContain("paint 0/0");
});

test("a layer that is blocked while its draw waits for a connection leaves the connection to others", async () => {
  let answer = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const { draws, events } = drawsWith({ open: async () => 7 }, held);
  const of = (layer: string, z: number) =>
    draws.drawForUser(
      { ...ORDER, tileSet: { ...ORDER.tileSet, layer }, rect: { ...ORDER.rect, z } },
      missed,
      "client",
      stays(),
    );
  const holding = of("b", 2);
  await expect.poll(() => events).toEqual(["paint 2/0"]);
  const waiting = of(LAYER, 3);
  const behind = of("b", 4);
  await draws.pause(LAYER);
  answer();
  expect(await holding).toMatchObject({ kind: "painted" });
  expect(await behind).toMatchObject({ kind: "painted" });
  expect(events.filter((event) => event.startsWith("paint"))).toEqual(["paint 2/0", "paint 4/0"]);
  draws.resume(LAYER);
  expect(await waiting).toMatchObject({ kind: "painted" });
});

test("a user of a layer that has just been removed is told so, and not that the source has no tile", async () => {
  const { draws } = drawsWith({ open: async () => 7 });
  const order = { ...ORDER, tileSet: { ...ORDER.tileSet, layer: "removed" } };
  expect(await draws.drawForUser(order, missed, "client", stays())).toEqual({ kind: "layer_removed" });
});

test("a question to an upstream ends with its client, while it waits for a connection and after it was sent", async () => {
  const sent: AbortSignal[] = [];
  const ask: Painters["ask"] = (_layer, _question, signal) =>
    new Promise((resolve) => {
      sent.push(signal);
      signal.addEventListener("abort", () => resolve({ kind: "cancelled" }));
    });
  const { draws } = drawsWith({ open: async () => 7 }, undefined, undefined, ask);
  const legend = { kind: "legend", style: "", format: "image/png", options: {} } as const;
  const clients = Array.from({ length: 3 }, () => new AbortController());
  const answers = clients.map(({ signal }) => draws.ask(layerNamed(LAYER), legend, "client", signal));
  await expect.poll(() => sent).toHaveLength(1);
  clients[1]?.abort(new Error("gone"));
  expect(await answers[1]).toEqual({ kind: "cancelled" });
  expect(sent).toHaveLength(1);
  clients[0]?.abort(new Error("gone"));
  expect(await answers[0]).toEqual({ kind: "cancelled" });
  await expect.poll(() => sent).toHaveLength(2);
  clients[2]?.abort(new Error("gone"));
  expect(await answers[2]).toEqual({ kind: "cancelled" });
  expect(await draws.ask(layerNamed(LAYER), legend, "client", AbortSignal.abort())).toEqual({ kind: "cancelled" });
  expect(sent).toHaveLength(2);
});
