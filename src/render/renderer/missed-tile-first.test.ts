import { expect, test } from "vitest";
import { formatNamed, gridSetNamed, layerNamed } from "../../../test/support/layer.ts";
import { createMemoryStore } from "../../../test/support/stores/memory-store.ts";
import { gridSubset } from "../../layer/grid-subset.ts";
import { machineClock } from "../../lib/time/machine-clock.ts";
import type { TileStore } from "../../store/tile-store.ts";
import { StoreError } from "../../store/tile-store.ts";
import type { RenderOrder } from "../render-order.ts";
import { type EarlyTiles, keepMissedFirst } from "./missed-tile-first.ts";
import type { StoreDecision } from "./tile-reservation.ts";

const layer = layerNamed("a", { gridSubsets: [gridSubset(gridSetNamed("EPSG:900913"), {})] });
const tileSet = {
  layer: "a",
  gridSet: "EPSG:900913",
  format: formatNamed("image/png").mimeType,
  parametersId: "",
};
/** Four tiles, of which the third is missed. */
const ORDER: RenderOrder = {
  tileSet,
  parameters: {},
  rect: { z: 2, minX: 0, minY: 0, maxX: 1, maxY: 1 },
  wanted: null,
};
const POSITIONS = [
  { x: 0, y: 0, keep: true },
  { x: 1, y: 0, keep: true },
  { x: 0, y: 1, keep: true },
  { x: 1, y: 1, keep: true },
];
const MISSED = { x: 0, y: 1, z: 2 };

interface Case {
  readonly mayStore?: () => Promise<StoreDecision>;
  readonly positions?: typeof POSITIONS;
  /** Called after each report, with the number of reports so far. */
  readonly afterReport?: (reports: number) => void;
  /** Called before a tile is encoded. */
  readonly beforeEncode?: (name: string) => Promise<void> | void;
  readonly signal?: AbortSignal;
  readonly store?: TileStore;
  readonly isCurrent?: () => boolean;
}

function begin({ mayStore, positions, afterReport, beforeEncode, signal, store, isCurrent }: Case) {
  const events: string[] = [];
  const stored = store ?? createMemoryStore();
  const nameOf = ({ x, y }: { x: number; y: number }) => `${x}/${y}`;
  let reports = 0;
  const report = ({ written, tiles }: EarlyTiles): void => {
    events.push(`written ${written.map(nameOf).join(" ")}; bytes ${tiles.map(nameOf).join(" ")}`);
    afterReport?.(++reports);
  };
  const done = keepMissedFirst(
    ORDER,
    positions ?? POSITIONS,
    async (position, inHaste) => {
      await beforeEncode?.(nameOf(position));
      events.push(`encode ${nameOf(position)}${inHaste ? "" : " at once"}`);
      return Uint8Array.of(1, position.x, position.y);
    },
    { missed: MISSED, report },
    {
      clock: machineClock,
      layer,
      store: stored,
      isCurrent: isCurrent ?? (() => true),
      mayStore: mayStore ?? (() => "store"),
      storing: (busy) => void events.push(busy ? "storing" : "stored"),
    },
    signal ?? new AbortController().signal,
  );
  const has = (x: number, y: number) => stored.get({ tileSet, x, y, z: 2 }) !== undefined;
  return { done, events, has };
}

const reportsOf = (events: readonly string[]) => events.filter((event) => event.startsWith("written"));

test("the missed tile is stored and reported before another is encoded, the others as they get ready", async () => {
  const { done, events } = begin({});
  expect(await done).toEqual({ written: [], stale: false, storeFailure: undefined });
  expect(events.slice(0, 4)).toEqual(["encode 0/1 at once", "storing", "written 0/1; bytes 0/1", "stored"]);
  expect(
    reportsOf(events)
      .join(" ")
      .match(/\d\/\d/g)
      ?.sort(),
  ).toEqual(["0/0", "0/1", "0/1", "1/0", "1/1"]);
  // Only the user who missed the tile gets bytes. All other users read their tiles from the store.
  expect(
    reportsOf(events)
      .slice(1)
      .every((event) => event.endsWith("bytes ")),
  ).toBe(true);
});

test("a tile whose encoding is slow does not hold up the others", async () => {
  let go = (): void => undefined;
  const slow = new Promise<void>((resolve) => {
    go = resolve;
  });
  const { done, events } = begin({ beforeEncode: (name) => (name === "0/0" ? slow : undefined) });
  await expect.poll(() => reportsOf(events).join(" ")).toContain("1/1");
  expect(events.join(" ")).not.toContain("0/0");
  go();
  await done;
  expect(reportsOf(events).at(-1)).toBe("written 0/0; bytes ");
});

test("a truncation after the missed tile keeps nothing of the others, whose bytes are reported", async () => {
  let isCurrent = true;
  const { done, events, has } = begin({
    isCurrent: () => isCurrent,
    afterReport: () => {
      isCurrent = false;
    },
  });
  expect(await done).toMatchObject({ stale: true });
  expect([has(0, 1), has(0, 0), has(1, 0), has(1, 1)]).toEqual([true, false, false, false]);
  expect(
    reportsOf(events)
      .slice(1)
      .join(" ")
      .match(/\d\/\d/g)
      ?.sort(),
  ).toEqual(["0/0", "1/0", "1/1"]);
  expect(
    reportsOf(events)
      .slice(1)
      .every((event) => event.startsWith("written ;")),
  ).toBe(true);
});

test("nothing is stored before it may be, and nothing where it may not", async () => {
  let answer = (_may: StoreDecision): void => undefined;
  const requested = new Promise<StoreDecision>((resolve) => {
    answer = resolve;
  });
  const { done, events, has } = begin({ mayStore: () => requested });
  await expect.poll(() => events).toEqual(["encode 0/1 at once"]);
  answer("no space");
  expect(await done).toMatchObject({ stale: true, refused: true });
  expect(reportsOf(events)[0]).toBe("written ; bytes 0/1");
  expect(POSITIONS.some(({ x, y }) => has(x, y))).toBe(false);
});

test("a failing store is reported once, and all users get their pictures", async () => {
  const store: TileStore = {
    ...createMemoryStore(),
    put: () => Promise.reject(new StoreError("full", "no space left", {})),
  };
  const { done, events } = begin({ store });
  expect(await done).toMatchObject({ stale: false, storeFailure: { code: "full", message: "no space left" } });
  expect(
    reportsOf(events)
      .join(" ")
      .match(/\d\/\d/g)
      ?.sort(),
  ).toEqual(["0/0", "0/1", "1/0", "1/1"]);
});

test("an encoder that fails ends the render after all that was begun has ended, and nothing is stored later", async () => {
  let go = (): void => undefined;
  const slow = new Promise<void>((resolve) => {
    go = resolve;
  });
  let hasFailed = false;
  const { done, has } = begin({
    beforeEncode: (name) => {
      if (name === "1/0") {
        hasFailed = true;
        throw new Error("no memory");
      }
      return name === "0/0" ? slow : undefined;
    },
  });
  let ended = false;
  const failed = expect(done).rejects.toThrow("no memory");
  void done.catch(() => undefined).finally(() => (ended = true));
  await expect.poll(() => hasFailed).toBe(true);
  await new Promise((resolve) => setImmediate(resolve));
  expect(ended).toBe(false);
  go();
  await failed;
  expect([has(0, 1), has(0, 0)]).toEqual([true, false]);
});

test("a render that is ended after its first report stores nothing more", async () => {
  const end = new AbortController();
  const { done, has } = begin({ signal: end.signal, afterReport: () => end.abort(new Error("shutting down")) });
  await expect(done).rejects.toThrow("shutting down");
  expect([has(0, 1), has(0, 0), has(1, 0), has(1, 1)]).toEqual([true, false, false, false]);
});

test("a missed tile that must not be stored is reported with its bytes only", async () => {
  const { done, events, has } = begin({
    positions: POSITIONS.map((position) => ({ ...position, keep: position.x === 1 })),
  });
  await done;
  expect(reportsOf(events)[0]).toBe("written ; bytes 0/1");
  expect([has(0, 1), has(0, 0), has(1, 0), has(1, 1)]).toEqual([false, false, true, true]);
});
