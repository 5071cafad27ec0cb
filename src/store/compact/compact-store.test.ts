import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { inDirectory } from "../../../test/support/stores/in-directory.ts";
import { createMemoryStore, unconditionally } from "../../../test/support/stores/memory-store.ts";
import type { GridSet } from "../../grid/grid-set.ts";
import type { LocalStore } from "../store.ts";
import type { TruncationScope } from "../truncation-store.ts";
import { createCompactStore } from "./compact-store.ts";

const directory = mkdtempSync(join(tmpdir(), "nuthatch-compact-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
let made = 0;
const root = (): string => join(directory, String(made++));
const yes = (): boolean => true;
const never = new AbortController().signal;

/**
 * A grid set whose matrices have these heights. Bundles and blocks begin together only if a height is a multiple of
 * 128.
 */
const gridSet = (...heights: readonly number[]): GridSet => ({
  id: "g",
  srs: 3857,
  extent: { minX: 0, minY: 0, maxX: 1, maxY: 1 },
  tileWidth: 256,
  tileHeight: 256,
  alignTopLeft: false,
  yCoordinateFirst: false,
  metersPerUnit: 1,
  matrices: heights.map((matrixHeight, z) => ({
    name: String(z),
    resolution: 1 / 256 / matrixHeight,
    scaleDenominator: 1,
    matrixWidth: 300,
    matrixHeight,
  })),
});

const tileSet = { layer: "a", gridSet: "g", format: "image/png", parametersId: "" };
const open = (at: string, grid: GridSet | undefined = gridSet(1, 128, 200, 300)): LocalStore =>
  createCompactStore({ ...inDirectory(at), gridSets: () => grid });
const bundlesIn = (at: string): string[] =>
  readdirSync(at, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".bundle"));

test("rows count from the top of the level, in bundles of 128 x 128", async () => {
  const at = root();
  const store = open(at);
  await store.put({ tileSet, x: 0, y: 0, z: 0 }, new Uint8Array(1), ...unconditionally);
  await store.put({ tileSet, x: 200, y: 199, z: 2 }, new Uint8Array(1), ...unconditionally);
  await store.put({ tileSet, x: 0, y: 0, z: 2 }, new Uint8Array(1), ...unconditionally);
  expect(bundlesIn(at).sort()).toEqual([
    "a/g/png/_alllayers/L00/R0000C0000.bundle",
    "a/g/png/_alllayers/L02/R0000C0080.bundle",
    "a/g/png/_alllayers/L02/R0080C0000.bundle",
  ]);
  await expect(store.put({ tileSet, x: 0, y: 200, z: 2 }, new Uint8Array(1), ...unconditionally)).rejects.toThrow(
    "has no tile 2/0/200",
  );
  const large = store.put({ tileSet, x: 0, y: 0, z: 2 }, new Uint8Array(2 ** 24), ...unconditionally);
  await expect(large).rejects.toThrow("a bundle has no place for a tile of 16777216 bytes");
});

const tile = fc.record({
  x: fc.constantFrom(0, 1, 127, 128, 129, 255, 299),
  y: fc.constantFrom(0, 1, 71, 72, 73, 127, 128, 171, 172, 199),
  z: fc.constantFrom(2, 3),
  format: fc.constantFrom("image/png", "image/jpeg"),
});
const rect = fc
  .tuple(fc.nat(299), fc.nat(199), fc.nat(299), fc.nat(199), fc.constantFrom(2, 3))
  .map(([a, b, c, d, z]) => ({
    z,
    minX: Math.min(a, c),
    minY: Math.min(b, d),
    maxX: Math.max(a, c),
    maxY: Math.max(b, d),
  }));
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("put" as const), tile, size: fc.integer({ min: 1, max: 300_000 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("delete" as const), tile }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("deleteRange" as const), rect }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("truncate" as const), z: fc.constantFrom(2, 3, undefined) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("undo" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("sweep" as const) }) },
);

const everything = { minX: 0, minY: 0, maxX: 299, maxY: 299 };

test("it holds what a store in memory holds, whatever was done, in a level of any height", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), rect, async (steps, looked) => {
      const stores = [open(root()), createMemoryStore()];
      const pyramid = { layer: "a", gridSet: "g", parametersId: "" };
      const scopeOf = (z: number | undefined): TruncationScope => ({
        kind: "pyramid",
        ...pyramid,
        ...(z === undefined ? {} : { zooms: { first: z, last: z } }),
      });
      const quiet = { willDelete: async () => {}, onDeleted: () => {} };
      const { signal } = new AbortController();
      const undoable: { readonly id: string; readonly scope: TruncationScope; readonly plans: string[][] }[] = [];
      for (const [n, one] of steps.entries()) {
        const plans: string[][] = [];
        const last = one.do === "undo" ? undoable.pop() : undefined;
        const outcomes: unknown[] = [];
        for (const [i, store] of stores.entries()) {
          switch (one.do) {
            case "put": {
              const at = { tileSet: { ...tileSet, format: one.tile.format }, ...one.tile };
              outcomes.push(await store.put(at, new Uint8Array(one.size).fill(n), ...unconditionally));
              break;
            }
            case "delete":
              outcomes.push(store.delete({ tileSet: { ...tileSet, format: one.tile.format }, ...one.tile }));
              break;
            case "deleteRange":
              await store.deleteRange(pyramid, one.rect, quiet, signal);
              break;
            case "truncate": {
              const names = store.plan(scopeOf(one.z));
              store.truncate(`${n}`, names, "keep");
              plans.push([...names]);
              break;
            }
            case "undo": {
              if (last === undefined) break;
              // As an undo does: discards the tiles stored since the truncation, whatever names the store has for them.
              store.truncate(`${n}`, store.plan(last.scope), "reclaim");
              store.restore(last.id, last.plans[i] ?? []);
              break;
            }
            case "sweep":
              await store.sweep(signal);
          }
        }
        expect(outcomes[0]).toEqual(outcomes[1]);
        if (one.do === "truncate") undoable.push({ id: `${n}`, scope: scopeOf(one.z), plans });
      }
      const [compact, memory] = stores;
      for (const format of ["image/png", "image/jpeg"]) {
        for (const area of [looked, { ...everything, z: 2 }, { ...everything, z: 3 }]) {
          const found = stores.map((store) =>
            store
              .recount({ ...tileSet, format }, area, true)
              .map(({ x, y, bytes }) => `${x} ${y} ${bytes}`)
              .sort(),
          );
          expect(found[0]).toEqual(found[1]);
        }
      }
      for (const z of [2, 3]) {
        const listed: string[] = [];
        for await (const { rect: block, tiles } of compact?.regions(pyramid, z, undefined) ?? []) {
          expect([block.minX % 128, block.minY % 128, block.maxY - block.minY]).toEqual([0, 0, 127]);
          for (const [format, inside] of tiles) listed.push(...inside.map(({ x, y }) => `${format} ${x} ${y}`));
        }
        const expected = ["image/png", "image/jpeg"].flatMap((format) =>
          (memory?.recount({ ...tileSet, format }, { ...everything, z }, false) ?? []).map(
            ({ x, y }) => `${format} ${x} ${y}`,
          ),
        );
        expect(listed.sort()).toEqual(expected.sort());
      }
    }),
    { numRuns: 40 },
  );
});

test("a sweep writes a bundle without its unused bytes, and loses nothing that is written meanwhile", async () => {
  const at = root();
  const store = open(at);
  const place = (x: number) => ({ tileSet, x, y: 5, z: 2 });
  const size = (): number => statSync(join(at, bundlesIn(at)[0] ?? "")).size;
  for (let round = 0; round < 4; round++)
    for (let x = 0; x < 60; x++) await store.put(place(x), new Uint8Array(10_000).fill(round + x), ...unconditionally);
  const times = [...Array(60).keys()].map((x) => store.stat(place(x))?.modifiedMs);
  expect(size()).toBeGreaterThan(2_400_000);
  // The writer records it at the end of its turn.
  await new Promise(setImmediate);
  expect(store.needsSweep()).toBe(true);
  const sweep = store.sweep(new AbortController().signal);
  // The sweep copies in several turns; these puts happen in between.
  await new Promise(setImmediate);
  await store.put(place(3), new Uint8Array(20).fill(7), ...unconditionally);
  store.delete(place(4));
  expect(store.confirm(place(5), new Uint8Array(10_000).fill(8), { time: "renew", guard: yes }, never)).toBe(true);
  await store.put(place(100), new Uint8Array(30).fill(9), ...unconditionally);
  const renewed = store.stat(place(5));
  await sweep;
  expect(size()).toBeLessThan(131_136 + 61 * 10_100);
  expect(store.needsSweep()).toBe(false);
  expect(readdirSync(join(at, bundlesIn(at)[0] ?? "", "..")).sort()).toEqual([".nuthatch-rows", "R0080C0000.bundle"]);
  for (let x = 0; x < 60; x++) {
    if ([3, 4, 5].includes(x)) continue;
    expect(store.get(place(x))?.bytes[0]).toBe(3 + x);
    expect(store.stat(place(x))?.modifiedMs).toBe(times[x]);
  }
  expect(store.get(place(3))?.bytes).toHaveLength(20);
  expect(store.get(place(4))).toBeUndefined();
  expect(store.stat(place(5))).toEqual(renewed);
  expect(store.get(place(100))?.bytes).toHaveLength(30);
  expect(store.allocated(10_000)).toBe(10_000 + 28 + 4 + 8);
});

test("after a reboot a recount removes tiles whose bytes the loss of power has lost", async () => {
  const at = root();
  const store = open(at);
  const cell = { z: 2, minX: 0, minY: 0, maxX: 15, maxY: 15 };
  for (let x = 0; x < 3; x++)
    await store.put({ tileSet, x, y: 0, z: 2 }, new Uint8Array(100).fill(x), ...unconditionally);
  const bundle = join(at, bundlesIn(at)[0] ?? "");
  const bytes = readFileSync(bundle);
  bytes.fill(0, bytes.length - 200, bytes.length - 150);
  writeFileSync(bundle, bytes);
  truncateSync(bundle, bytes.length - 10);
  expect(store.get({ tileSet, x: 2, y: 0, z: 2 }), "cut off").toBeUndefined();
  expect(store.recount(tileSet, cell, false).map(({ x }) => x)).toEqual([0, 1, 2]);
  expect(store.recount(tileSet, cell, true).map(({ x }) => x)).toEqual([0]);
  expect(store.recount(tileSet, cell, false).map(({ x }) => x)).toEqual([0]);
  expect(await store.put({ tileSet, x: 2, y: 0, z: 2 }, new Uint8Array(5), ...unconditionally)).toMatchObject({
    replaced: undefined,
  });
});

test("tiles of a grid set that has left the configuration can be counted and deleted; none can be stored", async () => {
  const at = root();
  await open(at).put({ tileSet, x: 7, y: 3, z: 2 }, new Uint8Array(9), ...unconditionally);
  const store = createCompactStore({ ...inDirectory(at), gridSets: () => undefined });
  expect(store.recount(tileSet, { z: 2, minX: 0, minY: 0, maxX: 15, maxY: 15 }, false)).toMatchObject([{ x: 7, y: 3 }]);
  await expect(store.put({ tileSet, x: 7, y: 3, z: 1 }, new Uint8Array(9), ...unconditionally)).rejects.toMatchObject({
    code: "corrupt",
  });
  expect(store.delete({ tileSet, x: 7, y: 3, z: 2 })).toBe(9);
});

test("what others changed in a store while no server had it is found by the times of bundles and directories", async () => {
  const at = root();
  const store = open(at);
  for (const x of [0, 140]) await store.put({ tileSet, x, y: 100, z: 3 }, new Uint8Array(9), ...unconditionally);
  await store.noteAlive();
  await new Promise((resolve) => setTimeout(resolve, 20));
  const pyramid = { layer: "a", gridSet: "g", parametersId: "" };
  const before = Date.now();
  expect(store.changes(pyramid, 3, before).hasLost).toBe(false);
  await open(at).put({ tileSet, x: 1, y: 100, z: 3 }, new Uint8Array(9), ...unconditionally);
  const changed: number[] = [];
  for await (const region of store.changes(pyramid, 3, before - 1).regions()) changed.push(region.rect.minX);
  expect(new Set(changed)).toEqual(new Set([0]));
  rmSync(join(at, "a/g/png/_alllayers/L03/R0080C0080.bundle"));
  const lost = store.changes(pyramid, 3, before - 1);
  expect(lost.hasLost).toBe(true);
  expect(await lost.holds({ z: 3, minX: 0, minY: 96, maxX: 15, maxY: 111 })).toBe(true);
  expect(await lost.holds({ z: 3, minX: 128, minY: 96, maxX: 143, maxY: 111 })).toBe(false);
});

/**
 * A program that writes tiles of varying size to a store, prints each number after its put, and sweeps now and then.
 */
const WRITER = `
import { createCompactStore } from ${JSON.stringify(fileURLToPath(new URL("./compact-store.ts", import.meta.url)))};
import { thisMachine } from ${JSON.stringify(fileURLToPath(new URL("../../lib/this-machine.ts", import.meta.url)))};
const [, , root, first] = process.argv;
const grid = ${JSON.stringify(gridSet(1, 128, 200, 300))};
const store = createCompactStore({
  machine: thisMachine,
  root,
  fsync: false,
  instance: String(process.pid),
  gridSets: () => grid,
});
const tileSet = ${JSON.stringify(tileSet)};
const { signal } = new AbortController();
for (let n = Number(first); ; n++) {
  const size = 4 + ((n * 7919) % 60000);
  const bytes = Buffer.alloc(size, n % 251);
  bytes.writeUInt32LE(n, 0);
  await store.put({ tileSet, x: n % 40, y: 60 + (n % 30), z: 2 }, bytes, { guard: () => true }, signal);
  process.stdout.write(n + "\\n");
  if (n % 50 === 49) await store.sweep(new AbortController().signal);
}
`;

/** The number of kills in the test below. More kills search longer. */
const KILLS = Number(process.env["NUTHATCH_KILLS"] ?? 3);

/** Resolves when a writer has printed some numbers, with the function that returns all complete ones. */
function untilPrinted(writer: ChildProcessWithoutNullStreams, least: number): Promise<() => number[]> {
  let text = "";
  const numbers = (): number[] => text.split("\n").slice(0, -1).map(Number);
  return new Promise((resolve, reject) => {
    writer.stderr.on("data", (error) => reject(new Error(String(error))));
    writer.stdout.on("data", (more) => {
      text += String(more);
      if (numbers().length >= least) resolve(numbers);
    });
  });
}

test("two writers that are killed at any moment leave whole tiles, and every tile whose put had ended", async () => {
  const at = root();
  const script = join(directory, "writer.mjs");
  buildSync({
    stdin: { contents: WRITER, resolveDir: directory, loader: "ts" },
    outfile: script,
    bundle: true,
    platform: "node",
    format: "esm",
    external: ["libsql"],
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    logLevel: "error",
  });
  symlinkSync(fileURLToPath(new URL("../../../node_modules", import.meta.url)), join(directory, "node_modules"));
  const store = open(at);
  const places = new Set<number>();
  for (let kill = 0; kill < KILLS; kill++) {
    const first = [0, 1].map((i) => (2 * kill + i) * 120_000);
    const writers = first.map((n) => spawn(process.execPath, [script, at, String(n)]));
    const ended = writers.map((): Map<number, number> => new Map());
    const printed = await Promise.all(writers.map((writer) => untilPrinted(writer, 1 + kill * 40)));
    const exited = writers.map((writer) => once(writer, "close"));
    for (const writer of writers) writer.kill("SIGKILL");
    await Promise.all(exited);
    for (const [i, lines] of printed.entries())
      for (const n of lines()) {
        ended[i]?.set(n % 120, n);
        places.add(n % 120);
      }
    for (const place of places) {
      const found = store.get({ tileSet, x: place % 40, y: 60 + (place % 30), z: 2 });
      const number = Buffer.from(found?.bytes ?? []).readUInt32LE(0);
      expect(found?.bytes).toHaveLength(4 + ((number * 7919) % 60000));
      expect(number % 120).toBe(place);
      expect(found?.bytes.subarray(4).every((byte) => byte === number % 251)).toBe(true);
      // The tile of one of the writers, and not a tile that the same writer had already replaced.
      const last = ended.map((of) => of.get(place));
      if (last.every((n) => n === undefined)) continue;
      expect(first.some((n, i) => number >= (last[i] ?? n) && number < n + 120_000)).toBe(true);
    }
  }
  expect(places.size).toBeGreaterThan(50);
  const whole = { z: 2, minX: 0, minY: 0, maxX: 299, maxY: 199 };
  const counted = store.recount(tileSet, whole, false).length;
  expect(store.recount(tileSet, whole, true)).toHaveLength(counted);
  await store.sweep(new AbortController().signal);
  expect(store.recount(tileSet, whole, true)).toHaveLength(counted);
}, 60_000);
