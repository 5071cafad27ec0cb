import fc from "fast-check";
import { expect, test } from "vitest";
import { ManualClock } from "../../test/support/manual-clock.ts";
import { openTestDatabase } from "../../test/support/postgres/test-database.ts";
import { createMemoryStore, unconditionally } from "../../test/support/stores/memory-store.ts";
import type { TileRect } from "../grid/grid-set.ts";
import { type TileSet, tileSetKey } from "../layer/tile-set.ts";
import { atOnce } from "../lib/process/slices.ts";
import { text } from "../state/database.ts";
import type { OpenCells } from "./cells/cell-writers.ts";
import { blocksIn } from "./counting/region-blocks.ts";
import { Ledger } from "./ledger.ts";
import { buildLedgerInternals } from "./ledger-internals.ts";
import { ledgerTables } from "./ledger-tables.ts";
import { blocksId } from "./tile-sets/tile-set-record.ts";

/*
 * Writers hold cells open during everything that can happen to a ledger whose block table holds four blocks. After each
 * step the ledger's sums equal the sums of its blocks, and its cells equal the content of the store.
 */

const LAYER = "a";
const GRID_SET = "g";
const ZOOMS = [8, 9] as const;
const PARAMETERS = ["", "p"] as const;
/** Three times three blocks of 128 tiles. */
const SIDE = 384;
const CELL = 16;
/** The disk allocates one to four blocks for tiles of up to 99 bytes. */
const BLOCK_BYTES = 32;

const pyramidOf = (parametersId: string) => ({ layer: LAYER, gridSet: GRID_SET, parametersId });
const TILE_SETS: readonly TileSet[] = [
  { ...pyramidOf(""), format: "image/png" },
  { ...pyramidOf(""), format: "image/jpeg" },
  { ...pyramidOf("p"), format: "image/png" },
];
const ELSEWHERE: TileSet = { ...pyramidOf(""), layer: "b", format: "image/png" };
const everywhere = (z: number): TileRect => ({ z, minX: 0, minY: 0, maxX: SIDE - 1, maxY: SIDE - 1 });

/** Yields the cells that overlap a rectangle, by name and with their tiles. */
function* cellsIn(tileSet: TileSet, { z, minX, minY, maxX, maxY }: TileRect): Generator<[string, TileRect]> {
  for (let cy = Math.floor(minY / CELL); cy <= Math.floor(maxY / CELL); cy++)
    for (let cx = Math.floor(minX / CELL); cx <= Math.floor(maxX / CELL); cx++) {
      const [x, y] = [cx * CELL, cy * CELL];
      const name = `${tileSet.parametersId} ${tileSet.format} ${z}/${cx}/${cy}`;
      yield [name, { z, minX: x, minY: y, maxX: x + CELL - 1, maxY: y + CELL - 1 }];
    }
}

interface Writer {
  readonly open: OpenCells;
  readonly tileSet: TileSet;
  readonly rect: TileRect;
  /** Tiles that are in the store and not yet reported. */
  unreported: { x: number; y: number; z: number; bytes: number; replaced: number | undefined }[];
}

interface Aside {
  readonly id: number;
  readonly scope: Scope;
  readonly names: readonly string[];
  readonly pyramids: readonly { gridSet: string; parametersId: string; complete: boolean }[];
}

type Scope = "layer" | "pyramid" | "zoom";

class Scene {
  readonly store = createMemoryStore(BLOCK_BYTES);
  readonly #clock = new ManualClock();
  #at: ReturnType<Scene["reopened"]>;
  #writers: Writer[] = [];
  #watch: { end(): void } | undefined;
  /** Every cell that a writer has had open. */
  readonly #touched = new Map<string, { readonly tileSet: TileSet; readonly rect: TileRect }>();
  /** Open cells that are counted again when their writers have closed them. */
  readonly #inDoubt = new Set<string>();
  #aside: Aside | undefined;
  #ledgerTruncations = 0;
  /** The steps of a running adoption. The listing of the store may be out of date when a step runs. */
  #adoption: (() => void)[] = [];

  constructor() {
    this.#at = this.reopened();
  }

  reopened(db = openTestDatabase(":memory:")) {
    db.createTables([ledgerTables]);
    const parts = {
      db,
      store: this.store,
      boot: "boot",
      clock: this.#clock,
      blocksInMemory: 4,
    };
    const internals = buildLedgerInternals(parts);
    /** Counts the tiles of a rectangle by its blocks, without a change. */
    const countIn = (tileSet: TileSet, rect: TileRect): bigint => {
      const record = internals.tileSets.find(tileSet);
      let count = 0n;
      if (record !== undefined)
        for (const block of internals.blocks.blocksIn(blocksId(record, rect.z), rect)) {
          if (rect.maxX - rect.minX >= 128) count += BigInt(block.tiles);
          else
            for (let y = rect.minY; y <= rect.maxY; y++)
              for (let x = rect.minX; x <= rect.maxX; x++) if (block.has(x, y)) count++;
        }
      return count;
    };
    return { db, ledger: new Ledger(parts, internals), countIn };
  }

  close(): void {
    this.#at.db.close();
  }

  #commitMarks(open: OpenCells): void {
    const { db, ledger } = this.#at;
    if (open.mustCommit) db.transaction(() => ledger.writeMarks());
  }

  begin(tileSet: TileSet, rect: TileRect): void {
    for (const [name, cell] of cellsIn(tileSet, rect)) this.#touched.set(name, { tileSet, rect: cell });
    const open = this.#at.ledger.writers.open(tileSet, rect);
    this.#commitMarks(open);
    if (this.#watch !== undefined) for (const [name] of cellsIn(tileSet, rect)) this.#inDoubt.add(name);
    this.#writers.push({ open, tileSet, rect, unreported: [] });
  }

  #writer(n: number): Writer | undefined {
    return this.#writers[n % Math.max(1, this.#writers.length)];
  }

  async put(n: number, dx: number, dy: number, bytes: number, isReported: boolean): Promise<void> {
    const writer = this.#writer(n);
    if (writer === undefined) return;
    const { tileSet, rect } = writer;
    const x = rect.minX + (dx % (rect.maxX - rect.minX + 1));
    const y = rect.minY + (dy % (rect.maxY - rect.minY + 1));
    const { z } = rect;
    // Two writers may report in a different order than they wrote.
    if (
      this.#writers.some((other) => other.tileSet === tileSet && other.unreported.some((t) => t.x === x && t.y === y))
    )
      for (const [name] of cellsIn(tileSet, { z, minX: x, minY: y, maxX: x, maxY: y })) this.#inDoubt.add(name);
    const put = await this.store.put({ tileSet, x, y, z }, new Uint8Array(bytes).fill(1), ...unconditionally);
    if (put.stored) writer.unreported.push({ x, y, z, bytes, replaced: put.replaced });
    if (isReported) this.#report(writer);
  }

  #report(writer: Writer): void {
    for (const tile of writer.unreported) this.#at.ledger.writers.wrote(writer.tileSet, tile);
    writer.unreported = [];
  }

  #reportAll(): void {
    for (const writer of this.#writers) this.#report(writer);
  }

  end(n: number, isLost: boolean): void {
    const writer = this.#writer(n);
    if (writer === undefined) return;
    this.#writers = this.#writers.filter((other) => other !== writer);
    if (isLost) {
      for (const [name] of cellsIn(writer.tileSet, writer.rect)) this.#inDoubt.add(name);
      this.#at.ledger.writers.lost(writer.open);
    } else this.#report(writer);
    this.#at.ledger.writers.close(writer.open);
  }

  /** Deletes a tile as a truncation of a range does: under a watch, because a writer may report it later. */
  remove(tileSet: TileSet, x: number, y: number, z: number): void {
    const isOwnWatch = this.#watch === undefined;
    if (isOwnWatch) this.watch();
    const open = this.#at.ledger.writers.openTiles(pyramidOf(tileSet.parametersId), [
      { format: tileSet.format, x, y, z },
    ]);
    this.#commitMarks(open);
    const bytes = this.store.delete({ tileSet, x, y, z });
    if (bytes !== undefined) this.#at.ledger.writers.removed(tileSet, { x, y, z, bytes });
    this.#at.ledger.writers.close(open);
    if (isOwnWatch) this.watch();
  }

  /** Begins a watch, or ends it. */
  watch(): void {
    for (const name of this.#openNow()) this.#inDoubt.add(name);
    if (this.#watch === undefined) this.#watch = this.#at.ledger.writers.watch.begin(LAYER);
    else {
      this.#watch.end();
      this.#watch = undefined;
    }
  }

  read(tileSet: TileSet, x: number, y: number, z: number, repeats: number): void {
    this.#at.ledger.eviction.used([{ tileSet, x, y, z, repeats }]);
  }

  evict(order: "LRU" | "LFU", cells: number): void {
    const walk = this.#at.ledger.eviction.coldest({
      order,
      ofLayer: () => true,
      keep: () => "none",
      colderThan: Infinity,
    });
    const open = this.#openNow();
    for (let n = 0; n < cells; n++) {
      const cell = atOnce(walk.next());
      if (cell === undefined) return;
      for (const { tileSet, rect } of this.#at.ledger.eviction.evict([cell]))
        for (const [name] of cellsIn(tileSet, rect))
          expect(open, "a cell that is being written stays").not.toContain(name);
    }
  }

  removeEmptied(limit: number): void {
    this.#at.ledger.truncated.emptied.removeSome(limit);
  }

  reclaim(limit: number): void {
    this.#at.ledger.truncated.reclaimSome(limit);
  }

  /** Ends all writers and discards the tiles that were set aside. Then only pyramids with tiles have rows. */
  checkRows(): void {
    this.#reportAll();
    while (this.#writers.length > 0) this.end(0, false);
    if (this.#watch !== undefined) this.watch();
    const { db, ledger } = this.#at;
    if (this.#aside !== undefined) {
      const { id } = this.#aside;
      this.store.discard(String(id));
      db.transaction(() => ledger.truncated.discard(id));
    }
    while (ledger.doubted.countSome(1_000));
    while (ledger.truncated.reclaimSome(1_000));
    ledger.flush();
    // Called twice: between the two passes, cells of an examined pyramid are counted and found empty.
    for (let n = 0; n < 2; n++) ledger.truncated.emptied.removeSome(1_000);
    expect(ledger.truncated.emptied.noted, "none is left to be looked at").toBe(0);
    const isStored = (id: string): boolean => this.store.levels(pyramidOf(id)).length > 0;
    const ids = (table: string): string[] =>
      db
        .prepare(`SELECT DISTINCT parameters_id FROM ${table} WHERE layer = ? ORDER BY parameters_id`)
        .all(LAYER)
        .map((row) => text(row, "parameters_id"));
    // A pyramid that is still to be counted keeps its rows.
    const isLeft = (id: string): boolean => ledger.isComplete(pyramidOf(id)) !== false;
    for (const table of ["pyramid", "tile_set"])
      expect(
        ids(table).filter((id) => isLeft(id) && !isStored(id)),
        `${table} without tiles`,
      ).toEqual([]);
    for (const table of ["block", "mark", "zoom_sum"]) {
      const orphans = db.prepare(`SELECT 1 FROM ${table} WHERE tile_set NOT IN (SELECT id FROM tile_set)`).all();
      expect(orphans, table).toEqual([]);
    }
  }

  flush(): void {
    this.#clock.pass(10_000);
    this.#at.ledger.flush();
  }

  /** Writes one of the changed zooms, as a save in slices does. A kill may follow it. */
  writeZoom(n: number): void {
    const { db, ledger } = this.#at;
    const zooms = ledger.changedZooms();
    const zoom = zooms[n % Math.max(1, zooms.length)];
    if (zoom !== undefined) db.transaction(() => ledger.writeZoom(zoom));
  }

  /** Reports all writes before it truncates, because no writer is in the middle of a write. Cells stay open. */
  truncate(scope: Scope, parametersId: string, z: number, isStored: boolean): void {
    const { ledger } = this.#at;
    this.#reportAll();
    this.#ledgerTruncations++;
    const pyramid = pyramidOf(parametersId);
    const planned = {
      layer: { kind: "layer", layer: LAYER },
      pyramid: { kind: "pyramid", ...pyramid },
      zoom: { kind: "pyramid", ...pyramid, zooms: { first: z, last: z } },
    } as const;
    const names = this.store.plan(planned[scope]);
    const aside = isStored && scope !== "zoom" && this.#aside === undefined ? this.#ledgerTruncations : undefined;
    const ids = scope === "layer" ? PARAMETERS : [parametersId];
    const pyramids = ids.map((id) => ({
      gridSet: GRID_SET,
      parametersId: id,
      complete: ledger.isComplete(pyramidOf(id)) === true,
    }));
    if (aside === undefined) this.store.truncate(String(this.#ledgerTruncations), names, "reclaim");
    else {
      this.store.truncate(String(aside), names, "keep");
      this.#aside = { id: aside, scope, names, pyramids };
    }
    if (scope === "layer") ledger.truncated.truncate({ layer: LAYER }, aside);
    else if (scope === "pyramid") ledger.truncated.truncate(pyramid, aside);
    else ledger.truncated.truncateLevels([{ pyramid, z }]);
  }

  async undo(): Promise<void> {
    const aside = this.#aside;
    if (aside === undefined || this.#watch !== undefined) return;
    const { ledger, db } = this.#at;
    this.#reportAll();
    this.#aside = undefined;
    db.transaction(() => ledger.writeAll());
    for (const { parametersId } of aside.scope === "layer" ? [{ parametersId: undefined }] : aside.pyramids)
      this.#discard(parametersId);
    this.store.restore(String(aside.id), aside.names);
    ledger.truncated.restore(LAYER, aside.id, aside.pyramids, () => {});
    ledger.truncated.truncateVanished(LAYER);
    // An adoption in progress starts over, because it may have passed these tiles already.
    if (this.#adoption.length > 0) await this.#adopt();
  }

  /** Truncates the tiles stored since the truncation that is undone, of a pyramid or of the whole layer. */
  #discard(parametersId: string | undefined): void {
    const { ledger } = this.#at;
    this.#ledgerTruncations++;
    const scope =
      parametersId === undefined
        ? ({ kind: "layer", layer: LAYER } as const)
        : ({ kind: "pyramid", ...pyramidOf(parametersId) } as const);
    this.store.truncate(String(this.#ledgerTruncations), this.store.plan(scope), "reclaim");
    if (scope.kind === "layer") ledger.truncated.truncate({ layer: LAYER });
    else ledger.truncated.truncate(scope);
  }

  async kill(): Promise<void> {
    this.#writers = [];
    this.#watch = undefined;
    this.#inDoubt.clear();
    this.#clock.pass(1_000);
    this.#at = this.reopened(this.#at.db);
    // The next process lists the store again.
    if (this.#adoption.length > 0) await this.#adopt();
  }

  /** Makes the ledger of a cache that another program has written. */
  async bring(): Promise<void> {
    this.#at.db.close();
    if (this.#aside !== undefined) this.store.discard(String(this.#aside.id));
    this.#aside = undefined;
    this.#writers = [];
    this.#watch = undefined;
    this.#inDoubt.clear();
    this.#at = this.reopened();
    await this.#adopt();
  }

  async #adopt(): Promise<void> {
    this.#adoption = [];
    for (const pyramid of this.#at.ledger.caches.unknownPyramids(LAYER, [GRID_SET])) {
      for (const z of this.store.levels(pyramid))
        for await (const region of this.store.regions(pyramid, z, undefined)) {
          // Other steps run between the cells of a block, as in the server.
          for (const [rect, listed] of [...atOnce(blocksIn(region)), [region.rect, new Map()] as const]) {
            const work = this.#at.ledger.caches.adopt(pyramid, rect, listed);
            const step = (): void => {
              if (work.next().done !== true) this.#adoption.unshift(step);
            };
            this.#adoption.push(step);
          }
        }
      this.#adoption.push(() => this.#at.ledger.caches.adopted(pyramid));
    }
  }

  adoptSome(): void {
    this.#adoption.shift()?.();
  }

  #openNow(): Set<string> {
    return new Set(this.#writers.flatMap(({ tileSet, rect }) => [...cellsIn(tileSet, rect)].map(([name]) => name)));
  }

  /** Loads more blocks of a different layer than fit into memory, so that the blocks of this layer are evicted. */
  #lookElsewhere(): void {
    for (let n = 0; n < 6; n++)
      this.#at.ledger.presence(ELSEWHERE, { z: 8, minX: n * 128, minY: 0, maxX: n * 128, maxY: 0 });
  }

  async check(): Promise<void> {
    const { ledger, countIn } = this.#at;
    this.#lookElsewhere();
    await Promise.resolve();
    while (ledger.doubted.countSome(1_000));
    const open = this.#openNow();
    if (this.#watch === undefined) for (const name of this.#inDoubt) if (!open.has(name)) this.#inDoubt.delete(name);
    const unreported = new Set(
      this.#writers.flatMap(({ tileSet, unreported: tiles }) =>
        tiles.flatMap(({ x, y, z }) =>
          [...cellsIn(tileSet, { z, minX: x, minY: y, maxX: x, maxY: y })].map(([name]) => name),
        ),
      ),
    );
    const excused = (name: string): boolean => this.#inDoubt.has(name) || unreported.has(name);
    const isComplete = (tileSet: TileSet): boolean => ledger.isComplete(tileSet) === true;
    for (const [name, { tileSet, rect }] of this.#touched) {
      if (excused(name) || !isComplete(tileSet)) continue;
      const stored = this.store.recount(tileSet, rect, false).length;
      expect([name, Number(countIn(tileSet, rect))], "a cell is as in the store").toEqual([name, stored]);
    }
    for (const { tileSet, sums } of ledger.tileSets()) {
      for (const z of ZOOMS) {
        const sum = sums.get(z) ?? { tiles: 0n, bytes: 0n, allocated: 0n };
        expect(countIn(tileSet, everywhere(z)), "the sum is that of the blocks").toBe(sum.tiles);
        const cells = [...this.#touched].filter(
          ([, at]) => tileSetKey(at.tileSet) === tileSetKey(tileSet) && at.rect.z === z,
        );
        if (!isComplete(tileSet) || cells.some(([name]) => excused(name))) continue;
        const stored = this.store.recount(tileSet, everywhere(z), false);
        const bytes = stored.reduce((all, tile) => all + tile.bytes, 0);
        const allocated = stored.reduce((all, tile) => all + this.store.allocated(tile.bytes), 0);
        expect(sum, "the sum is the store's").toEqual({
          tiles: BigInt(stored.length),
          bytes: BigInt(bytes),
          allocated: BigInt(allocated),
        });
      }
    }
  }
}

/** A step, with the words that describe it in a failure. */
interface Step {
  readonly words: string;
  readonly run: (scene: Scene) => void | Promise<void>;
}

const tileSet = fc.constantFrom(...TILE_SETS, ...TILE_SETS.slice(0, 1));
const z = fc.constantFrom(...ZOOMS, ZOOMS[0]);
/** Most steps concern the same place. */
const xy = fc.oneof({ weight: 3, arbitrary: fc.nat(12) }, { weight: 1, arbitrary: fc.nat(SIDE - 20) });
const n = fc.nat(5);
const step = <A extends unknown[]>(
  name: string,
  args: fc.Arbitrary<A>,
  run: (scene: Scene, ...args: A) => void | Promise<void>,
): fc.Arbitrary<Step> =>
  args.map((given) => ({ words: `${name} ${JSON.stringify(given)}`, run: (scene) => run(scene, ...given) }));

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: step(
      "begin",
      fc.tuple(tileSet, z, xy, xy, fc.integer({ min: 0, max: 19 })),
      (scene, set, zoom, x, y, side) => scene.begin(set, { z: zoom, minX: x, minY: y, maxX: x + side, maxY: y + side }),
    ),
  },
  {
    weight: 16,
    arbitrary: step(
      "put",
      fc.tuple(n, fc.nat(19), fc.nat(19), fc.integer({ min: 1, max: 99 }), fc.boolean()),
      (scene, ...put) => scene.put(...put),
    ),
  },
  { weight: 8, arbitrary: step("end", fc.tuple(n, fc.boolean()), (scene, ...how) => scene.end(...how)) },
  { weight: 3, arbitrary: step("remove", fc.tuple(tileSet, xy, xy, z), (scene, ...at) => scene.remove(...at)) },
  { weight: 4, arbitrary: step("watch", fc.tuple(), (scene) => scene.watch()) },
  {
    weight: 3,
    arbitrary: step("read", fc.tuple(tileSet, xy, xy, z, fc.nat(5)), (scene, ...read) => scene.read(...read)),
  },
  {
    weight: 5,
    arbitrary: step("evict", fc.tuple(fc.constantFrom("LRU", "LFU"), fc.integer({ min: 1, max: 4 })), (scene, ...how) =>
      scene.evict(...how),
    ),
  },
  {
    weight: 5,
    arbitrary: step("remove emptied", fc.tuple(fc.integer({ min: 1, max: 4 })), (scene, ...limit) =>
      scene.removeEmptied(...limit),
    ),
  },
  {
    weight: 4,
    arbitrary: step("reclaim", fc.tuple(fc.integer({ min: 1, max: 3 })), (scene, ...limit) => scene.reclaim(...limit)),
  },
  { weight: 6, arbitrary: step("flush", fc.tuple(), (scene) => scene.flush()) },
  { weight: 6, arbitrary: step("write a zoom", fc.tuple(fc.nat(5)), (scene, n) => scene.writeZoom(n)) },
  {
    weight: 8,
    arbitrary: step(
      "truncate",
      fc.tuple(fc.constantFrom("layer", "pyramid", "zoom"), fc.constantFrom(...PARAMETERS), z, fc.boolean()),
      (scene, ...what) => scene.truncate(...what),
    ),
  },
  { weight: 3, arbitrary: step("undo", fc.tuple(), (scene) => scene.undo()) },
  { weight: 4, arbitrary: step("kill", fc.tuple(), (scene) => scene.kill()) },
  { weight: 1, arbitrary: step("bring a cache", fc.tuple(), (scene) => scene.bring()) },
  { weight: 4, arbitrary: step("adopt some", fc.tuple(), (scene) => scene.adoptSome()) },
);

test("whatever happens while cells are open, the ledger, its sums and the store agree after each step", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 40, maxLength: 120, size: "max" }), async (steps) => {
      const scene = new Scene();
      try {
        for (const { run: take } of steps) {
          await take(scene);
          await scene.check();
        }
        scene.checkRows();
        await scene.check();
      } finally {
        scene.close();
      }
    }),
    { numRuns: 100 },
  );
});
