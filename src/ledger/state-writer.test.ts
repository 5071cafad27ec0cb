import { expect, test, vi } from "vitest";
import { openTestDatabase } from "../../test/support/postgres/test-database.ts";
import { createMemoryStore } from "../../test/support/stores/memory-store.ts";
import { Ledger } from "../ledger/ledger.ts";
import { ledgerTables } from "../ledger/ledger-tables.ts";
import { machineClock } from "../lib/time/machine-clock.ts";
import { StateWriter } from "./state-writer.ts";

const ZOOMS = [8, 9, 10, 11, 12];
const tileSet = { layer: "a", gridSet: "g", format: "image/png", parametersId: "" };

/** A ledger with a new tile in each zoom. Returns the zooms of which the database has a block or a sum. */
function written() {
  const db = openTestDatabase(":memory:");
  db.createTables([ledgerTables]);
  const ledger = new Ledger({ db, store: createMemoryStore(), boot: "boot", clock: machineClock });
  const state = new StateWriter({
    clock: machineClock,
    db,
    ledger,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  });
  state.attach({
    needsSave: false,
    saveChanges: () => undefined,
    saveInSlices: async () => state.write(),
    report: () => undefined,
  });
  for (const z of ZOOMS) ledger.writers.wrote(tileSet, { x: 0, y: 0, z, bytes: 10, replaced: undefined });
  const zoomsIn = (table: string): number[] =>
    db
      .prepare(`SELECT z FROM ${table} ORDER BY z`)
      .all()
      .map(({ z }) => Number(z));
  return { db, ledger, state, zoomsIn };
}

test("a save in slices writes the blocks of one zoom with their sum, and those of the next in a later slice", async () => {
  const { db, state, zoomsIn } = written();
  // The clock advances with each call, so that every slice is over at once.
  let ms = 0;
  vi.spyOn(performance, "now").mockImplementation(() => (ms += 10));
  const writing = state.writeInSlices();
  expect([zoomsIn("block"), zoomsIn("zoom_sum")]).toEqual([[8], [8]]);
  await writing;
  vi.restoreAllMocks();
  expect([zoomsIn("block"), zoomsIn("zoom_sum"), state.hasChanges]).toEqual([ZOOMS, ZOOMS, false]);
  db.close();
});

test("a save in slices that fails half way is completed by the next one", async () => {
  const { db, ledger, state, zoomsIn } = written();
  let ms = 0;
  vi.spyOn(performance, "now").mockImplementation(() => (ms += 10));
  const writeZoom = ledger.writeZoom.bind(ledger);
  let writes = 0;
  vi.spyOn(ledger, "writeZoom").mockImplementation((zoom) => {
    writeZoom(zoom);
    if (++writes === 3) throw new Error("the database is full");
  });
  await expect(state.writeInSlices()).rejects.toThrow("the database is full");
  expect([zoomsIn("block"), zoomsIn("zoom_sum"), state.hasChanges]).toEqual([[8, 9], [8, 9], true]);
  vi.restoreAllMocks();
  await state.writeInSlices();
  expect([zoomsIn("block"), zoomsIn("zoom_sum"), state.hasChanges]).toEqual([ZOOMS, ZOOMS, false]);
  db.close();
});
