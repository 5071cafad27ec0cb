import { expect, test } from "vitest";
import { formatNamed, layerNamed } from "../../test/support/layer.ts";
import type { DrawOrder } from "./draw.ts";
import { DrawPace } from "./draw-pace.ts";
import { Draws, type LedgerGate } from "./draws.ts";
import { Governors } from "./governors.ts";
import type { Painters } from "./painters.ts";
import { UpstreamMeter } from "./upstream-meter.ts";

const LAYER = "a";
const ORDER: DrawOrder = {
  tileSet: { layer: LAYER, gridSet: "EPSG:4326", format: formatNamed("image/png").mimeType, parametersId: "" },
  parameters: {},
  rect: { z: 0, minX: 0, minY: 0, maxX: 0, maxY: 0 },
  wanted: null,
};

/** Draws over one connection, whose ledger answers when it is told to, and whose painter stores what it may. */
function drawsWith(ledger: Pick<LedgerGate, "open">, answered: Promise<void> = Promise.resolve()) {
  const events: string[] = [];
  const unused = (): never => {
    throw new Error("not asked for");
  };
  const painters: Painters = {
    async paint({ rect }, generation, _who, reservation) {
      events.push(rect.z === 0 ? `paint ${generation}` : `paint ${rect.z}/${rect.minX}`);
      await answered;
      const kept = reservation === undefined || (await reservation) !== undefined;
      events.push(kept ? "kept" : "not kept");
      const written = kept ? [{ x: 0, y: 0, z: 0, bytes: 1, replaced: undefined }] : [];
      const tiles = [{ x: 0, y: 0, bytes: new Uint8Array(1) }];
      return {
        kind: "painted",
        written,
        tiles,
        stale: !kept,
        storeFailure: undefined,
        upstreamMs: 1,
      };
    },
    paintRun: unused,
    settle: async () => undefined,
    ask: unused,
    sweep: unused,
    compose: unused,
  };
  const layer = layerNamed(LAYER);
  const draws = new Draws({
    painters,
    ledger: {
      ...ledger,
      closeCells: (id) => void events.push(`close ${id}`),
      wrote: () => void events.push("wrote"),
      notStored: () => undefined,
      lost: unused,
    },
    memory: { clear() {}, forget() {}, expireBefore() {} },
    governors: new Governors(),
    meter: new UpstreamMeter(),
    pace: new DrawPace({ share: 1, usersActive: () => false, now: () => performance.now() }),
    layer: (name) => (name === LAYER ? layer : undefined),
    now: Date.now,
  });
  draws.configure([layer]);
  return { draws, events };
}

const stays = () => new AbortController().signal;
const missed = { x: 0, y: 0, z: 0 };

test("a user's draw begins while its cells are opened, keeps nothing before they are, and closes them after it has told", async () => {
  let opened = (_id: number | undefined): void => undefined;
  const { draws, events } = drawsWith({ open: () => new Promise((resolve) => (opened = resolve)) });
  const drawn = draws.drawForUser(ORDER, missed, stays());
  await expect.poll(() => events).toEqual(["paint 0"]);
  opened(7);
  expect(await drawn).toMatchObject({ kind: "painted", stale: false });
  expect(events).toEqual(["paint 0", "kept", "wrote", "close 7"]);
});

test("a truncation that comes before the word of the cells leaves nothing of a draw that has begun", async () => {
  let opened = (_id: number | undefined): void => undefined;
  const { draws, events } = drawsWith({ open: () => new Promise((resolve) => (opened = resolve)) });
  const drawn = draws.drawForUser(ORDER, missed, stays());
  await expect.poll(() => events).toEqual(["paint 0"]);
  draws.renew(LAYER);
  opened(7);
  expect(await drawn).toMatchObject({ kind: "painted", stale: true, tiles: [{ x: 0, y: 0 }] });
  expect(events).toEqual(["paint 0", "not kept", "close 7"]);
});

test("where nothing may be kept the user has the picture, and nobody takes it for stored", async () => {
  const { draws, events } = drawsWith({ open: async () => undefined });
  expect(await draws.drawForUser(ORDER, missed, stays())).toMatchObject({ kind: "painted", stale: true, tiles: [{}] });
  expect(events).toEqual(["paint 0", "not kept"]);
});

test("a keeper that has ended is a fault of the draw, of which nothing is kept", async () => {
  const { draws, events } = drawsWith({ open: () => Promise.reject(new Error("the keeper has ended")) });
  await expect(draws.drawForUser(ORDER, missed, stays())).rejects.toThrow("the keeper has ended");
  expect(events).toEqual(["paint 0", "not kept"]);
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
    draws.drawForUser({ ...ORDER, rect: { z: 1, minX: x, minY: 0, maxX: x, maxY: 0 } }, { x, y: 0, z: 1 }, user.signal);
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
