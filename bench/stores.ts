import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DiskTier } from "../src/cache/tiers/disk-tier.ts";
import { builtInGridSet } from "../src/grid/built-in.ts";
import { machineDisk } from "../src/lib/file/machine-disk.ts";
import { machineClock } from "../src/lib/time/machine-clock.ts";
import { createCompactStore } from "../src/store/compact/compact-store.ts";
import { createFileStore } from "../src/store/file/file-store.ts";
import type { Store } from "../src/store/store.ts";
import { inDirectory } from "../test/support/stores/in-directory.ts";
import { unconditionally } from "../test/support/stores/memory-store.ts";
import { type BenchLength, median } from "./support/figures.ts";

/** Tiles on a side of the square that is written and read. */
const SIDE = 64;
const LENGTHS = { full: 15, short: 3 } as const;
/** How often each store is read in a round, in turns with the other. */
const PASSES = 5;
/** Tiles that a renderer stores in one turn of the event loop. */
const METATILE = 16;
const Z = 10;
const tileSet = { layer: "a", gridSet: "EPSG:900913", format: "image/png", parametersId: "" };

/**
 * Compares stores and a disk tier in turns: writes and reads by one process, and the space on the disk (in /var/tmp).
 */
export async function benchStores(length: BenchLength): Promise<void> {
  const rounds = LENGTHS[length];
  for (const size of [1_000, 10_000]) {
    const bytes = new Uint8Array(size).fill(7);
    const kinds = ["file", "compact"] as const;
    const figures = {
      file: { write: [] as number[], read: [] as number[] },
      compact: { write: [] as number[], read: [] as number[] },
    };
    const onDisk: number[] = [];
    const tierReads: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const root = mkdtempSync("/var/tmp/nuthatch-bench-stores-");
      await using file = open("file", join(root, "file"));
      await using compact = open("compact", join(root, "compact"));
      const stores = { file, compact };
      for (const kind of kinds) figures[kind].write.push(await microsOf(() => write(stores[kind], bytes)));
      if (round === 0) for (const kind of kinds) onDisk.push(allocatedIn(join(root, kind)) / (SIDE * SIDE));
      for (let pass = 0; pass < PASSES; pass++)
        for (const kind of kinds) figures[kind].read.push(await microsOf(async () => read(stores[kind])));
      tierReads.push(await tierRead(join(root, "tier"), bytes));
      rmSync(root, { recursive: true });
    }
    const { file, compact } = figures;
    const ratio = (of: "write" | "read"): string => (median(compact[of]) / median(file[of])).toFixed(2);
    const shown = (of: "write" | "read"): string =>
      `${of} ${median(file[of]).toFixed(1)} and ${median(compact[of]).toFixed(1)} µs (ratio ${ratio(of)})`;
    const [fileBytes = 0, compactBytes = 0] = onDisk;
    console.log(
      `stores, ${size} bytes a tile, file and compact: ${shown("write")}, ${shown("read")}; a hit of a disk tier ${median(tierReads).toFixed(1)} µs (ratio ${(median(tierReads) / median(file.read)).toFixed(2)}); ${fileBytes.toFixed(0)} and ${compactBytes.toFixed(0)} bytes on the disk (ratio ${(compactBytes / fileBytes).toFixed(2)})`,
    );
  }
}

function open(kind: "file" | "compact", root: string): Store {
  const options = inDirectory(root);
  return kind === "file" ? createFileStore(options) : createCompactStore({ ...options, gridSets: builtInGridSet });
}

async function microsOf(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return ((performance.now() - began) * 1000) / (SIDE * SIDE);
}

async function write(store: Store, bytes: Uint8Array): Promise<void> {
  for (let n = 0; n < SIDE * SIDE; n++) {
    await store.put({ tileSet, x: n % SIDE, y: Math.floor(n / SIDE), z: Z }, bytes, ...unconditionally);
    if (n % METATILE === METATILE - 1) await new Promise(setImmediate);
  }
}

function read(store: Store): void {
  for (let n = 0; n < SIDE * SIDE; n++)
    if (store.get({ tileSet, x: n % SIDE, y: Math.floor(n / SIDE), z: Z }) === undefined)
      throw new Error("a tile is not there");
}

/** Returns the µs of a hit of a disk tier that holds all tiles. */
async function tierRead(directory: string, bytes: Uint8Array): Promise<number> {
  const failed = (error: unknown): never => {
    throw error;
  };
  const tier = new DiskTier({ directory, limitBytes: 2 ** 30, failed, disk: machineDisk, clock: machineClock });
  await tier.prepare();
  const keyOf = (n: number) => ({ key: `tile ${n}`, name: `a/EPSG:900913/png/default/${Z}/${n}.png`, epoch: 1 });
  for (let n = 0; n < SIDE * SIDE; n++) {
    tier.keep(keyOf(n), { bytes, modifiedMs: 1 }, tier.mark(keyOf(n).key), () => true);
    if (n % METATILE === METATILE - 1) await tier.idle();
  }
  return microsOf(async () => {
    for (let n = 0; n < SIDE * SIDE; n++) if (tier.get(keyOf(n)) === undefined) throw new Error("a tile is not there");
  });
}

/** Returns the bytes that the disk takes for a directory (`st_blocks` counts 512 bytes). */
function allocatedIn(directory: string): number {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" });
  return names.reduce((sum, name) => sum + statSync(join(directory, name)).blocks * 512, 0);
}
