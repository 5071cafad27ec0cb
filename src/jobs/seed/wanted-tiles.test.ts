import { expect, test } from "vitest";
import { activeJob } from "../../../test/support/jobs/active-job.ts";
import { layerNamed } from "../../../test/support/layer.ts";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { atEveryZoom } from "../../layer/by-zoom.ts";
import { atOnce } from "../../lib/process/slices.ts";
import { StoreError } from "../../store/tile-store.ts";
import type { ActiveJob } from "../active/active-job.ts";
import { WantedTiles, type WantedTilesParts } from "./wanted-tiles.ts";

const tileSet = { layer: "a", gridSet: "g", format: "image/png", parametersId: "" };
/** A metatile of 2 x 2 tiles, of which the job counts the right column. */
const rect = { z: 3, minX: 0, minY: 0, maxX: 1, maxY: 1 };
const metatile = { tileSet, rect, counted: { ...rect, minX: 1 } };

/**
 * Finds the wanted tiles among stored tiles.
 * @param stored when each tile (`x/y`) was written, ms since 1970
 */
function wantedOf(
  job: ActiveJob,
  stored: Readonly<Record<string, number | { readonly modifiedMs: number; readonly confirmedMs: number }>>,
  { expireSeconds = 0, ...more }: Partial<WantedTilesParts> & { readonly expireSeconds?: number } = {},
) {
  const times = (x: number, y: number) => {
    const time = stored[`${x}/${y}`];
    return typeof time === "number" ? { modifiedMs: time, confirmedMs: time } : time;
  };
  const tiles = new WantedTiles({
    ledger: {
      presence: () => ({ has: (x, y) => times(x, y) !== undefined, oldestMs: 0 }),
      repair: () => undefined,
    },
    store: {
      timesOf: ({ x, y }) => {
        const found = times(x, y);
        return found === undefined ? undefined : { bytes: 1, ...found };
      },
    },
    expiredBeforeMs: () => 0,
    sharedStore: () => false,
    clock: new ManualClock(100_000),
    ...more,
  });
  const layer = layerNamed("a", { expireCacheSeconds: atEveryZoom(expireSeconds) });
  const isCounted = atOnce(tiles.counted(job, metatile));
  const wanted = tiles.wanted(job, layer, metatile, isCounted);
  return wanted instanceof Uint8Array ? [...wanted] : wanted;
}

test("a seed wants the missing tiles, and nothing if no counted tile is missing", () => {
  const seed = activeJob();
  expect(wantedOf(seed, {})).toBe(null);
  expect(wantedOf(seed, { "1/0": 5_000 })).toEqual([1, 0, 1, 1]);
  // The left column is missing, but the job does not count it.
  expect(wantedOf(seed, { "1/0": 5_000, "1/1": 5_000 })).toBe("none");
});

test("a seed wants expired tiles: by age, and by a soft truncation", () => {
  const stored = { "0/0": 50_000, "1/0": 99_500, "0/1": 99_500, "1/1": 50_000 };
  expect(wantedOf(activeJob(), stored)).toBe("none");
  expect(wantedOf(activeJob(), stored, { expireSeconds: 1 })).toEqual([1, 0, 0, 1]);
  expect(wantedOf(activeJob(), stored, { expiredBeforeMs: () => 60_000 })).toEqual([1, 0, 0, 1]);
});

test("a tile that is in the ledger and not in the store, or that cannot be read, is wanted", () => {
  const all = { "0/0": 9, "1/0": 9, "0/1": 9, "1/1": 9 };
  const timesOf = () => undefined;
  expect(wantedOf(activeJob(), all, { expireSeconds: 1, store: { timesOf } })).toBe(null);
  const fault = () => {
    throw new StoreError("unavailable", "no such device", undefined);
  };
  expect(wantedOf(activeJob(), all, { expireSeconds: 1, store: { timesOf: fault } })).toBe(null);
  const bug = () => {
    throw new TypeError("a bug");
  };
  expect(() => wantedOf(activeJob(), all, { expireSeconds: 1, store: { timesOf: bug } })).toThrow("a bug");
});

test("a reseed wants all tiles; after a restart, those that it has not renewed", () => {
  const stored = { "0/0": 500, "1/0": 500, "0/1": 5_000, "1/1": 5_000 };
  expect(wantedOf(activeJob({ type: "reseed" }, { startedMs: 2_000 }), stored)).toBe(null);
  expect(wantedOf(activeJob({ type: "reseed" }, { startedMs: 2_000 }, true), stored)).toEqual([1, 1, 0, 0]);
  // An unchanged tile keeps its time of writing and is confirmed.
  const confirmed = { "1/0": { modifiedMs: 500, confirmedMs: 5_000 }, "1/1": { modifiedMs: 500, confirmedMs: 5_000 } };
  const again = activeJob({ type: "reseed" }, { startedMs: 2_000 }, true);
  expect(wantedOf(again, confirmed)).toBe("none");
});

test("a reseed by age wants missing tiles and old ones; over existing tiles, the stored ones that it has not renewed", () => {
  const stored = { "0/0": 500, "1/0": 500, "1/1": 5_000 };
  expect(wantedOf(activeJob({ type: "reseed", olderThanMs: 1_000 }), stored)).toEqual([1, 1, 1, 0]);
  const existing = { type: "reseed", onlyExisting: true } as const;
  expect(wantedOf(activeJob(existing, { startedMs: 2_000 }), stored)).toEqual([1, 1, 0, 0]);
  expect(wantedOf(activeJob(existing, { startedMs: 2_000 }), { "0/0": 500, "1/1": 5_000 })).toBe("none");
});

test("where other programs write to the store, the ledger is repaired before it is read", () => {
  const calls: string[] = [];
  wantedOf(
    activeJob(),
    {},
    {
      sharedStore: () => true,
      ledger: {
        repair: () => void calls.push("repair"),
        presence: () => {
          calls.push("presence");
          return { has: () => false, oldestMs: 0 };
        },
      },
    },
  );
  expect(calls).toEqual(["repair", "presence"]);
});
