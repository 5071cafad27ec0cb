import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CELL_SIDE, CELLS_PER_SIDE } from "../src/layer/cells.ts";
import { BLOCK_SIDE } from "../src/layer/tile-set.ts";
import { Ledger } from "../src/ledger/ledger.ts";
import { ledgerTables } from "../src/ledger/ledger-tables.ts";
import { machineDisk } from "../src/lib/file/machine-disk.ts";
import type { Database } from "../src/state/database.ts";
import { openDatabase } from "../src/state/embedded-database.ts";
import { openPostgres } from "../src/state/postgres/postgres-database.ts";
import { parsePostgresUrl } from "../src/state/postgres/postgres-url.ts";
import { zoomDirectory } from "../src/store/file/file-layout.ts";
import { createFileStore } from "../src/store/file/file-store.ts";
import { ManualClock } from "../test/support/manual-clock.ts";
import { inDirectory } from "../test/support/stores/in-directory.ts";

export const LAYER = "a";
const TILES = 20_000_000;
const PER_FULL_BLOCK = BLOCK_SIDE * BLOCK_SIDE;
const PER_SCATTERED_BLOCK = 20;
const BYTES = 10_000;
/** The level of the full blocks, which form a square from the lower left. */
export const FULL_ZOOM = 13;
export const FULL_COLUMNS = 25;
/** The level of the scattered tiles, in rows of blocks from the lower left. */
export const SCATTERED_ZOOM = 18;
const SCATTERED_COLUMNS = 1024;
const GRID_SET = "EPSG:900913";
/** The tiles were written in this time, each block at a different time. */
export const WRITTEN_WITHIN_MS = 30 * 86_400_000;

/**
 * Writes a ledger of twenty million tiles of one tile set without their files: half in full blocks, half with twenty
 * per block. `url`: the address of a database in PostgreSQL; "": the embedded one. `copied`: the database multiplies
 * some rows of scattered blocks, which takes a fraction of the time.
 */
export function fillLedger(dataDir: string, url = "", fill: "written" | "copied" = "written"): void {
  const began = performance.now();
  // A separate process, because a database stays locked until all of its statements have been garbage-collected.
  const program = [...process.execArgv, fileURLToPath(import.meta.url), dataDir, url, fill];
  const blocks = execFileSync(process.execPath, program, { encoding: "utf8" }).trim();
  const seconds = (performance.now() - began) / 1000;
  console.log(`20 million tiles in ${blocks} blocks, made in ${seconds.toFixed(0)} s`);
}

function openState(dataDir: string, url: string): Database {
  if (url === "") return openDatabase(join(dataDir, "state.db"), machineDisk);
  const target = parsePostgresUrl(url, machineDisk);
  if (!target.ok) throw new Error(target.error);
  const thread = new URL("../dist/postgres-thread.cjs", import.meta.url);
  const db = openPostgres(target.value, {
    thread,
    diverged(reason) {
      throw new Error(reason);
    },
  });
  db.connect();
  return db;
}

/** Rows of scattered blocks that are written before they are copied. */
const ROWS_WRITTEN = 2;

/** Copies the scattered blocks that are there to the rows above them. Returns the number of copies. */
function copyScattered(db: Database): number {
  const blocks = Math.ceil(TILES / 2 / PER_SCATTERED_BLOCK);
  const times = Math.ceil(blocks / (ROWS_WRITTEN * SCATTERED_COLUMNS)) - 1;
  const { changes } = db
    .prepare(
      `INSERT INTO block (tile_set, z, bx, by, tiles, presence, cells, unknown, lru, lfu, checksum, ages)
         SELECT tile_set, z, bx, by + ${ROWS_WRITTEN} * n, tiles, presence, cells, unknown, lru, lfu, checksum, ages
         FROM block, (WITH RECURSIVE row (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM row WHERE n < ${times})
           SELECT n FROM row) AS copies
         WHERE z = ${SCATTERED_ZOOM}`,
    )
    .run();
  const sums = ["tiles", "bytes", "allocated"].map((column) => `${column} = ${column} * ${times + 1}`).join(", ");
  db.exec(`UPDATE zoom_sum SET ${sums} WHERE z = ${SCATTERED_ZOOM}`);
  return changes;
}

async function fill(dataDir: string, url: string, isCopied: boolean): Promise<number> {
  const root = join(dataDir, "tiles");
  const store = createFileStore(inDirectory(root));
  for (const z of [FULL_ZOOM, SCATTERED_ZOOM])
    mkdirSync(join(root, LAYER, zoomDirectory(GRID_SET, z, "")), { recursive: true });
  const db = openState(dataDir, url);
  db.createTables([ledgerTables]);
  const clock = new ManualClock(Date.now() - WRITTEN_WITHIN_MS);
  const ledger = new Ledger({ db, store, boot: undefined, clock });
  const tileSet = { layer: LAYER, gridSet: GRID_SET, format: "image/png", parametersId: "" };
  ledger.caches.adopted(tileSet);
  let random = 1;
  const next = (n: number): number => {
    random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
    return Math.floor((random / 2 ** 32) * n);
  };
  let blocks = 0;
  const block = (z: number, n: number, columns: number, tiles: Iterable<readonly [number, number]>): void => {
    const [x0, y0] = [(n % columns) * BLOCK_SIDE, Math.floor(n / columns) * BLOCK_SIDE];
    clock.set(Date.now() - next(WRITTEN_WITHIN_MS));
    for (const [x, y] of tiles)
      ledger.writers.wrote(tileSet, { x: x0 + x, y: y0 + y, z, bytes: BYTES, replaced: undefined });
    if (++blocks % 500 === 0) ledger.flush();
  };
  const all = Array.from({ length: PER_FULL_BLOCK }, (_, i) => [i % BLOCK_SIDE, Math.floor(i / BLOCK_SIDE)] as const);
  for (let n = 0; n * PER_FULL_BLOCK < TILES / 2; n++) block(FULL_ZOOM, n, FULL_COLUMNS, all);
  const scattered = isCopied ? ROWS_WRITTEN * SCATTERED_COLUMNS : Math.ceil(TILES / 2 / PER_SCATTERED_BLOCK);
  for (let n = 0; n < scattered; n++) {
    const cells = new Set<number>();
    while (cells.size < PER_SCATTERED_BLOCK) cells.add(next(CELLS_PER_SIDE ** 2));
    block(
      SCATTERED_ZOOM,
      n,
      SCATTERED_COLUMNS,
      [...cells].map((cell) => [
        (cell % CELLS_PER_SIDE) * CELL_SIDE + next(CELL_SIDE),
        Math.floor(cell / CELLS_PER_SIDE) * CELL_SIDE + next(CELL_SIDE),
      ]),
    );
  }
  ledger.flush();
  if (isCopied) blocks += copyScattered(db);
  // The next owner takes the content of the store for the content of the ledger.
  await store.noteAlive();
  db.close();
  return blocks;
}

const [, program, directory, url = "", way] = process.argv;
if (program === fileURLToPath(import.meta.url) && directory !== undefined)
  console.log(await fill(directory, url, way === "copied"));
