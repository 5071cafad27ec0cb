import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openTestDatabase } from "../../../test/support/postgres/test-database.ts";
import { inDirectory } from "../../../test/support/stores/in-directory.ts";
import { unconditionally } from "../../../test/support/stores/memory-store.ts";
import type { TileSet } from "../../layer/tile-set.ts";
import { machineClock } from "../../lib/time/machine-clock.ts";
import { createFileStore } from "../../store/file/file-store.ts";
import { Ledger } from "../ledger.ts";
import { ledgerTables } from "../ledger-tables.ts";
import { Adoption, adoptionTables } from "./adoption.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nuthatch-adoption-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const tileSet: TileSet = { layer: "a", gridSet: "EPSG:900913", format: "image/png", parametersId: "" };
const LAYERS = [{ name: "a", gridSets: ["EPSG:900913"] }];
const rounded = (bytes: number, blockBytes: number): number => Math.ceil(bytes / blockBytes) * blockBytes;

/** Opens the state of one server on a disk with blocks of a given size. */
function open(blockBytes: number) {
  const db = openTestDatabase(join(directory, "state.db"));
  db.createTables([ledgerTables, adoptionTables]);
  const files = createFileStore(inDirectory(join(directory, "tiles")));
  const store = { ...files, allocated: (bytes: number) => rounded(bytes, blockBytes) };
  const logged: string[] = [];
  const log = { info: (text: string) => void logged.push(text), warn: () => undefined, error: () => undefined };
  const ledger = new Ledger({ db, store, boot: "boot", clock: machineClock });
  const adoption = new Adoption({ db, ledger, store, log, isStateLost: false });
  /** Stores tiles of these sizes, each in a separate cell. */
  const write = async (sizes: readonly number[]): Promise<void> => {
    for (const [n, size] of sizes.entries()) {
      const tile = { x: 16 * n, y: 0, z: 9 };
      const cells = ledger.writers.open(tileSet, { z: 9, minX: tile.x, minY: 0, maxX: tile.x, maxY: 0 });
      db.transaction(() => ledger.writeMarks());
      const put = await store.put({ tileSet, ...tile }, new Uint8Array(size), ...unconditionally);
      ledger.writers.wrote(tileSet, { ...tile, bytes: size, replaced: put.stored ? put.replaced : undefined });
      ledger.writers.close(cells);
    }
  };
  const close = async (): Promise<void> => {
    await adoption.close();
    ledger.flush();
    db.close();
  };
  return { db, ledger, adoption, logged, write, close };
}

/** Starts the adoption as a server does, and waits for its end. */
async function adopt({ adoption, ledger }: ReturnType<typeof open>): Promise<void> {
  adoption.check(LAYERS);
  adoption.start(LAYERS);
  await expect.poll(() => adoption.progress().pyramidsLeft + Number(ledger.hasOtherBlocks)).toBe(0);
}

const SIZES = [300, 1000, 5000, 4096, 70_000];
const allocatedIn = (blockBytes: number): bigint =>
  BigInt(SIZES.reduce((sum, size) => sum + rounded(size, blockBytes), 0));
const AGAIN = "the blocks of the store's disk have another size: all tiles are counted again";

test("on a disk with other blocks all tiles are counted again, over a restart in between, and only once", async () => {
  const first = open(4096);
  await adopt(first);
  await first.write(SIZES);
  expect(first.ledger.sums.total.allocated).toBe(allocatedIn(4096));
  expect(first.logged).not.toContain(AGAIN);
  await first.close();

  const interrupted = open(1024);
  expect([interrupted.ledger.hasOtherBlocks, interrupted.adoption.concerns("a")]).toEqual([true, false]);
  interrupted.adoption.check(LAYERS);
  expect(interrupted.adoption.concerns("a"), "usage is not complete").toBe(true);
  await interrupted.close();

  const second = open(1024);
  await adopt(second);
  expect(second.logged).toContain(AGAIN);
  expect(second.ledger.sums.total).toMatchObject({ tiles: 5n, allocated: allocatedIn(1024) });
  await second.close();

  const third = open(1024);
  expect(third.ledger.hasOtherBlocks).toBe(false);
  expect(third.ledger.sums.total).toMatchObject({ tiles: 5n, allocated: allocatedIn(1024) });
  await third.close();
});
