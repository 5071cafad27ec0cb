import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openDatabase } from "../state/database.ts";
import { createFileBlobStore } from "../store/file-blob-store.ts";
import type { TileSet } from "../tile/tile-set.ts";
import { Ledger, ledgerMigrations } from "./ledger.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nuthatch-ledger-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const tileSet: TileSet = { layer: "a", gridSet: "EPSG:900913", format: "image/png", parametersId: "" };
let clock = 1_000_000;

function open(root: string, name: string) {
  const db = openDatabase(join(root, name));
  db.migrate([ledgerMigrations]);
  const store = createFileBlobStore({ root: join(root, "tiles"), fsync: false, instance: "test" });
  return { db, store, ledger: new Ledger(db, store, "boot", () => clock) };
}

const total = (ledger: Ledger) => {
  let tiles = 0n;
  let bytes = 0n;
  for (const { sums } of ledger.tileSets()) {
    for (const sum of sums.values()) {
      tiles += sum.tiles;
      bytes += sum.bytes;
    }
  }
  return { tiles, bytes };
};

type Step =
  | { kind: "put"; x: number; y: number; size: number }
  | { kind: "flush" }
  | { kind: "kill" }
  | { kind: "drop" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("put" as const),
      x: fc.nat(300),
      y: fc.nat(300),
      size: fc.integer({ min: 1, max: 50 }),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: "flush" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "kill" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "drop" as const }) },
);

test("whatever is written, dropped and killed, the sums equal what the store holds", async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const root = join(directory, String(run++));
      let at = open(directory, `${run}.db`);
      at.db.close();
      rmSync(root, { recursive: true, force: true });
      const { mkdirSync } = await import("node:fs");
      mkdirSync(root);
      at = open(root, "state.db");
      const model = new Map<string, number>();
      for (const now of steps) {
        clock += 700;
        if (now.kind === "put") {
          const { x, y } = now;
          const rect = { z: 9, minX: x, minY: y, maxX: x, maxY: y };
          const cells = at.ledger.open(tileSet, rect);
          if (cells.mustCommit) at.db.transaction(() => at.ledger.writeMarks());
          const put = await at.store.put({ tileSet, x, y, z: 9 }, new Uint8Array(now.size), () => true);
          if (put.stored) at.ledger.wrote(tileSet, { x, y, z: 9, bytes: now.size, replaced: put.replaced });
          at.ledger.close(cells);
          model.set(`${x}/${y}`, now.size);
        } else if (now.kind === "flush") at.ledger.flush();
        else if (now.kind === "drop") {
          at.store.drop(String(clock), at.store.planDrop({ kind: "layer", layer: "a" }));
          at.ledger.dropLayer("a");
          model.clear();
        } else {
          // What was not flushed is forgotten, as by a kill.
          at.db.close();
          at = open(root, "state.db");
          while (at.ledger.recountSome(1000));
        }
      }
      const bytes = [...model.values()].reduce((a, b) => a + b, 0);
      expect(total(at.ledger)).toEqual({ tiles: BigInt(model.size), bytes: BigInt(bytes) });
      for (const key of model.keys()) {
        const [x = 0, y = 0] = key.split("/").map(Number);
        expect(at.ledger.presence(tileSet, { z: 9, minX: x, minY: y, maxX: x, maxY: y }).has(x, y)).toBe(true);
      }
      at.db.close();
    }),
    { numRuns: 40 },
  );
}, 120_000);

test("a store that held tiles before the ledger is unknown, and is counted where it is asked", async () => {
  const store = createFileBlobStore({ root: join(directory, "tiles"), fsync: false, instance: "test" });
  for (let x = 0; x < 20; x++) await store.put({ tileSet, x, y: 3, z: 6 }, new Uint8Array(10), () => true);
  const { ledger, db } = open(directory, "state.db");
  const presence = ledger.presence(tileSet, { z: 6, minX: 0, minY: 0, maxX: 31, maxY: 15 });
  expect([presence.has(0, 3), presence.has(19, 3), presence.has(20, 3)]).toEqual([true, true, false]);
  expect([...ledger.tileSets()].map((t) => t.complete)).toEqual([false]);
  expect(total(ledger)).toEqual({ tiles: 20n, bytes: 200n });
  db.close();
});
