import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Ledger, ledgerMigrations } from "../ledger/ledger.ts";
import type { RenderGate } from "../render/render-order.ts";
import { openDatabase } from "../state/database.ts";
import { createFileTileStore } from "../store/file/file-tile-store.ts";
import type { TileStore } from "../store/tile-store.ts";
import { type Aside, LedgerTruncations, truncationMigrations } from "./truncations.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nuthatch-drops-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const z = 8;
const pyramid = { layer: "a", gridSet: "g", parametersId: "" };
const FORMATS = ["image/png", "image/jpeg"];

const gate: RenderGate = {
  render: async () => ({ kind: "cancelled" }),
  renderBatch: async () => [],
  endRuns: async () => {},
  pause: async () => {},
  resume: () => {},
  renew: () => {},
  overtake: async () => {},
  truncated: () => {},
  forget: async () => {},
  sweep: async () => {},
  expireBefore: () => {},
  evicted: () => {},
};

/** A store that calls `moved` at each recount and at each move of a restoration. */
function watched(store: TileStore, moved: () => void): TileStore {
  return new Proxy(store, {
    get(target, name) {
      if (name === "restore")
        return function* (...args: Parameters<TileStore["restore"]>) {
          for (const chunk of target.restore(...args)) {
            moved();
            yield chunk;
          }
        };
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown => {
        if (name === "recount") moved();
        return value.apply(target, args);
      };
    },
  });
}

function open(root: string, moved: () => void, asked = gate) {
  const db = openDatabase(join(root, "state.db"));
  db.migrate([ledgerMigrations, truncationMigrations]);
  const files = createFileTileStore({ root: join(root, "tiles"), fsync: false, instance: "test" });
  const store = watched(files, moved);
  const ledger = new Ledger({ db, store, boot: "boot", now: Date.now, monotonicNow: () => performance.now() });
  return { db, store: files, ledger, ledgerTruncations: new LedgerTruncations(db, store, ledger, asked) };
}

type Opened = ReturnType<typeof open>;

async function put({ db, store, ledger }: Opened, tiles: ReadonlyMap<string, number>): Promise<void> {
  for (const [key, size] of tiles) {
    const [format = "", x = 0, y = 0] = key.split(" ").map((part, i) => (i === 0 ? part : Number(part)));
    const tileSet = { ...pyramid, format: String(format) };
    const at = { x: Number(x), y: Number(y), z };
    const cells = ledger.open(tileSet, { z, minX: at.x, minY: at.y, maxX: at.x, maxY: at.y });
    db.transaction(() => ledger.writeMarks());
    const outcome = await store.put({ tileSet, ...at }, new Uint8Array(size), () => true);
    if (outcome.stored) ledger.wrote(tileSet, { ...at, bytes: size, replaced: outcome.replaced });
    ledger.close(cells);
  }
}

function expectKept({ store, ledger }: Opened, expected: ReadonlyMap<string, number>): void {
  while (ledger.recountSome(1000));
  const found = FORMATS.flatMap((format) =>
    store
      .recount({ ...pyramid, format }, { z, minX: 0, minY: 0, maxX: 511, maxY: 511 }, false)
      .map(({ x, y, bytes }): [string, number] => [`${format} ${x} ${y}`, bytes]),
  );
  expect(new Map(found.sort())).toEqual(new Map([...expected].sort()));
  const { tiles, bytes } = ledger.total;
  expect([tiles, bytes]).toEqual([BigInt(expected.size), BigInt([...expected.values()].reduce((a, b) => a + b, 0))]);
  for (const { complete, tileSet } of ledger.tileSets()) {
    expect(complete).toBe(true);
    for (const key of expected.keys()) {
      const [format, x, y] = key.split(" ");
      if (format === tileSet.format)
        expect(
          ledger
            .presence(tileSet, { z, minX: Number(x), minY: Number(y), maxX: Number(x), maxY: Number(y) })
            .has(Number(x), Number(y)),
        ).toBe(true);
    }
  }
}

const tiles = (size: fc.Arbitrary<number>) =>
  fc
    .uniqueArray(fc.tuple(fc.constantFrom(...FORMATS), fc.nat(300), fc.nat(300), size), {
      selector: ([format, x, y]) => `${format} ${x} ${y}`,
      maxLength: 25,
    })
    .map((list) => new Map(list.map(([format, x, y, bytes]) => [`${format} ${x} ${y}`, bytes])));

test("a restoration that is interrupted anywhere is completed, with what was stored since, and the records are exact", async () => {
  let n = 0;
  await fc.assert(
    fc.asyncProperty(
      tiles(fc.integer({ min: 1, max: 99 })),
      tiles(fc.integer({ min: 100, max: 999 })),
      fc.nat(30),
      fc.constantFrom("kill" as const, "go on" as const),
      fc.boolean(),
      async (old, newer, steps, then, isFlushed) => {
        const root = join(directory, String(n++));
        const stop = new AbortController();
        let left = steps;
        const interrupt = () => {
          if (left-- === 0) stop.abort(new Error("interrupted"));
        };
        let isRestoring = false;
        createFileTileStore({ root: join(root, "tiles"), fsync: false, instance: "test" });
        let at = open(root, () => isRestoring && interrupt());
        await put(at, old);
        if (isFlushed) at.ledger.flush();
        let names: readonly string[] = [];
        await at.ledgerTruncations.drop(
          "a",
          () => [{ kind: "layer", layer: "a" }],
          (_, planned) => {
            names = planned;
            return 1;
          },
        );
        expectKept(at, new Map());
        await put(at, newer);
        const pyramids = [{ gridSet: "g", parametersId: "", complete: true }];
        const aside: Aside = { id: 1, layer: "a", names, pyramids: old.size === 0 ? [] : pyramids };
        isRestoring = true;
        const { db, ledger } = at;
        const hooks = {
          refuse: () => undefined,
          begun: () => db.transaction(() => ledger.writeAll()),
          ended: () => {},
        };
        await at.ledgerTruncations
          .restore(aside, hooks, stop.signal)
          .catch((error: unknown) => expect(stop.signal.reason).toBe(error));
        isRestoring = false;
        if (stop.signal.aborted && then === "go on")
          await at.ledgerTruncations.restore(aside, hooks, new AbortController().signal);
        if (then === "kill") {
          at.db.close();
          at = open(root, () => {});
          at.ledgerTruncations.finishRestoring(aside);
        }
        expectKept(at, new Map([...old, ...newer]));
        at.db.close();
      },
    ),
    { numRuns: 40 },
  );
});

test("a drop waits for those who are about to store in its layer, and for nobody else", async () => {
  const steps: string[] = [];
  const root = join(directory, "waits");
  createFileTileStore({ root: join(root, "tiles"), fsync: false, instance: "test" });
  const at = open(root, () => {}, {
    ...gate,
    pause: async () => void steps.push("pause"),
    resume: () => steps.push("resume"),
    renew: () => steps.push("renew"),
  });
  const truncateAll = (): Promise<void> =>
    at.ledgerTruncations.drop("a", () => {
      steps.push("drop");
      return [{ kind: "layer", layer: "a" }];
    });
  const rect = { z, minX: 0, minY: 0, maxX: 7, maxY: 7 };
  const others = at.ledger.open({ ...pyramid, layer: "b", format: "image/png" }, rect);
  await truncateAll();
  expect(steps.splice(0)).toEqual(["drop", "renew"]);
  const cells = FORMATS.map((format) => at.ledger.open({ ...pyramid, format }, rect));
  for (const open of cells) {
    await truncateAll();
    expect(steps.splice(0)).toEqual(["pause", "drop", "resume"]);
    at.ledger.close(open);
  }
  await truncateAll();
  expect(steps.splice(0)).toEqual(["drop", "renew"]);
  at.ledger.close(others);
  at.db.close();
});
