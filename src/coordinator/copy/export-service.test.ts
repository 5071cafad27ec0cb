import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { createMemoryStore, unconditionally } from "../../../test/support/stores/memory-store.ts";
import { rectHolds, type TileIndex, type TileRect } from "../../grid/grid-set.ts";
import { tileList } from "../../grid/tile-list.ts";
import { Ledger } from "../../ledger/ledger.ts";
import { ledgerTables } from "../../ledger/ledger-tables.ts";
import { machineDisk } from "../../lib/file/machine-disk.ts";
import { openDatabase } from "../../state/embedded-database.ts";
import { StoreError } from "../../store/tile-store.ts";
import { type ExportPageRequest, ExportService } from "./export-service.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nuthatch-export-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const tileSet = { layer: "a", gridSet: "g", format: "image/png", parametersId: "" };
const never = new AbortController().signal;
const nameOf = ({ z, x, y }: TileIndex): string => `${z}/${x}/${y}`;

/** Returns a service over a ledger and a store with these tiles. The content of a tile is its name. */
async function serviceOf(name: string, tiles: readonly TileIndex[]) {
  const db = openDatabase(join(directory, name), machineDisk);
  db.createTables([ledgerTables]);
  const store = createMemoryStore();
  const ledger = new Ledger({ db, store, boot: "boot", clock: new ManualClock(1_000) });
  for (const { x, y, z } of tiles) {
    const open = ledger.writers.open(tileSet, { z, minX: x, minY: y, maxX: x, maxY: y });
    const bytes = Buffer.from(nameOf({ x, y, z }));
    await store.put({ tileSet, x, y, z }, bytes, ...unconditionally);
    ledger.writers.wrote(tileSet, { x, y, z, bytes: bytes.byteLength, replaced: undefined });
    ledger.writers.close(open);
  }
  const service = new ExportService({ ledger, store, recounted: async () => undefined, isCounted: () => true });
  return { db, store, ledger, service };
}

const tileArbitrary = fc.record({ x: fc.nat(700), y: fc.nat(700), z: fc.constantFrom(12, 13) });
const rectArbitrary = fc
  .tuple(fc.nat(400), fc.nat(400), fc.nat(400), fc.nat(400))
  .map(([minX, minY, width, height]) => ({ minX, minY, maxX: minX + width, maxY: minY + height }));

test("the pages of any size have each stored tile of the range once, with its bytes", async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(tileArbitrary, { maxLength: 60, selector: nameOf }),
      rectArbitrary,
      fc.boolean(),
      fc.integer({ min: 1, max: 9 }),
      async (tiles, box, isSelected, mostTiles) => {
        const { db, service } = await serviceOf(String(run++), tiles);
        const rects: readonly TileRect[] = [12, 13].map((z) => ({ z, ...box }));
        const chosen = tiles.filter((_, n) => !isSelected || n % 2 === 0);
        const selection = isSelected ? tileList(chosen) : undefined;
        const wanted = chosen.filter(({ x, y, z }) => rects.some((rect) => rect.z === z && rectHolds(rect, x, y)));
        const found: string[] = [];
        for (let after: TileIndex | undefined | null; after !== null; ) {
          const request: ExportPageRequest = { tileSet, rects, selection, after, mostTiles, mostBytes: 1_000 };
          const page = await service.exportTiles(request, never);
          if (!page.ok) throw new Error("refused");
          expect(page.value.tiles.length).toBeLessThanOrEqual(mostTiles);
          for (const { bytes, ...at } of page.value.tiles) {
            expect(Buffer.from(bytes).toString()).toBe(nameOf(at));
            found.push(nameOf(at));
          }
          after = page.value.next;
        }
        expect([...found].sort()).toEqual(wanted.map(nameOf).sort());
        db.close();
      },
    ),
    { numRuns: 40 },
  );
});

test("a tile that the store has lost is missing, and a store that cannot be read refuses the page", async () => {
  const tiles = [1, 2, 3].map((x) => ({ z: 12, x, y: 5 }));
  const { db, store, ledger, service } = await serviceOf("a", tiles);
  const request: ExportPageRequest = {
    tileSet,
    rects: [{ z: 12, minX: 0, minY: 0, maxX: 9, maxY: 9 }],
    selection: undefined,
    after: undefined,
    mostTiles: 9,
    mostBytes: 1_000,
  };
  store.delete({ tileSet, z: 12, x: 2, y: 5 });
  const page = await service.exportTiles(request, never);
  expect(page).toMatchObject({ ok: true, value: { missing: 1, next: null, complete: true } });
  expect(page.ok && page.value.tiles.map(nameOf)).toEqual(["12/1/5", "12/3/5"]);

  const away = {
    get: () => {
      throw new StoreError("unavailable", "the disk is away", undefined);
    },
  };
  const broken = new ExportService({ ledger, store: away, recounted: async () => undefined, isCounted: () => true });
  expect(await broken.exportTiles(request, never)).toMatchObject({ ok: false, error: { code: "unavailable" } });
  db.close();
});
