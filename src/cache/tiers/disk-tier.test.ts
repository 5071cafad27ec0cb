import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import type { Disk } from "../../lib/file/disk.ts";
import { machineDisk } from "../../lib/file/machine-disk.ts";
import { DiskTier, type TierKey } from "./disk-tier.ts";

const root = mkdtempSync(join(tmpdir(), "nuthatch-tier-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let made = 0;

const at = (n: number | string, name = `name of ${n}`, epoch = 1): TierKey => ({ key: `tile ${n}`, name, epoch });
const tile = (size: number, fill = 7) => ({ bytes: new Uint8Array(size).fill(fill), modifiedMs: 1_700_000_000_123.5 });
const yes = (): boolean => true;

async function open(limitBytes: number, directory = join(root, String(made++)), disk = machineDisk) {
  const failures: unknown[] = [];
  const clock = new ManualClock();
  const tier = new DiskTier({ directory, limitBytes, failed: (error) => failures.push(error), disk, clock });
  await tier.prepare();
  return { tier, directory, failures, advance: clock.pass.bind(clock) };
}

function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

test("a tile that was kept is read back with its time, and no other tile is there", async () => {
  const { tier } = await open(1_000_000);
  tier.keep(at(1), tile(100), tier.mark(at(1).key), yes);
  await tier.idle();
  const found = tier.get(at(1));
  expect(found?.modifiedMs).toBe(1_700_000_000_123.5);
  expect(Buffer.from(found?.bytes ?? []).equals(tile(100).bytes)).toBe(true);
  expect(tier.get(at(2))).toBeUndefined();
  expect(tier.view()).toMatchObject({ tiles: 1, hits: 1, failures: 0 });
});

test("whatever is kept, read and removed, the files take what the tier counts, and never more than its limit", async () => {
  const operation = fc.oneof(
    fc.record({ kind: fc.constant("keep" as const), n: fc.nat(30), size: fc.nat(20_000) }),
    fc.record({ kind: fc.constant("get" as const), n: fc.nat(30) }),
    fc.record({ kind: fc.constant("remove" as const), n: fc.nat(30) }),
    fc.record({ kind: fc.constant("wait" as const) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 60 }), async (operations) => {
      const { tier, directory, failures } = await open(100_000);
      const kept = new Map<number, number>();
      for (const one of operations) {
        if (one.kind === "keep") {
          tier.keep(at(one.n), tile(one.size, one.n), tier.mark(at(one.n).key), yes);
          kept.set(one.n, one.size);
        } else if (one.kind === "get") {
          const found = tier.get(at(one.n));
          if (found !== undefined) expect(new Set(found.bytes)).toEqual(new Set(found.bytes.length > 0 ? [one.n] : []));
        } else if (one.kind === "remove") tier.remove([at(one.n).key]);
        else await tier.idle();
        expect(tier.view().bytes).toBeLessThanOrEqual(100_000);
      }
      await tier.idle();
      const files = filesIn(directory);
      const { blksize } = statSync(directory);
      const taken = files.reduce((sum, file) => sum + Math.ceil(statSync(file).size / blksize) * blksize, 0);
      expect({ files: files.length, bytes: taken }).toEqual({ files: tier.view().tiles, bytes: tier.view().bytes });
      expect(failures).toEqual([]);
    }),
    { numRuns: 40 },
  );
});

test("the tile that was read least recently goes first", async () => {
  const { tier } = await open(3 * 4096);
  for (const n of [1, 2, 3]) {
    tier.keep(at(n), tile(10), tier.mark(at(n).key), yes);
    await tier.idle();
  }
  expect(tier.get(at(1))).toBeDefined();
  tier.keep(at(4), tile(10), tier.mark(at(4).key), yes);
  await tier.idle();
  expect([1, 2, 3, 4].map((n) => tier.get(at(n)) !== undefined)).toEqual([true, false, true, true]);
});

test("a tile is not served after a truncation, by its epoch or by its name in the store", async () => {
  const { tier } = await open(1_000_000);
  for (const n of [1, 2]) tier.keep(at(n), tile(10), tier.mark(at(n).key), yes);
  await tier.idle();
  expect(tier.get(at(1, "name of 1", 2))).toBeUndefined();
  expect(tier.get(at(2, "name after the truncation", 1))).toBeUndefined();
  expect(tier.get(at(1))).toBeUndefined();
  await tier.idle();
  expect(tier.view()).toMatchObject({ tiles: 0, bytes: 0 });
});

test("a tile that is stored anew while it is being written is not kept", async () => {
  const { tier, directory } = await open(1_000_000);
  let isCurrent = true;
  tier.keep(at(1), tile(10), tier.mark(at(1).key), () => isCurrent);
  isCurrent = false;
  await tier.idle();
  expect(tier.get(at(1))).toBeUndefined();
  expect(filesIn(directory)).toEqual([]);
});

test("a tile that was removed since its read began is not kept", async () => {
  const { tier } = await open(1_000_000);
  const mark = tier.mark(at(1).key);
  tier.remove([at(1).key]);
  tier.keep(at(1), tile(10), mark, yes);
  tier.keep(at(2), tile(10), tier.mark(at(2).key), yes);
  tier.remove([at(2).key]);
  await tier.idle();
  expect([tier.get(at(1)), tier.get(at(2))]).toEqual([undefined, undefined]);
});

test("a tier begins empty, whatever an earlier process has left", async () => {
  const first = await open(1_000_000);
  first.tier.keep(at(1), tile(10), first.tier.mark(at(1).key), yes);
  await first.tier.idle();
  const second = await open(1_000_000, first.directory);
  expect(second.tier.get(at(1))).toBeUndefined();
  expect(filesIn(first.directory)).toEqual([]);
});

test("a tile larger than the tier is not kept and evicts nothing else than there was", async () => {
  const { tier } = await open(8192);
  tier.keep(at(1), tile(100_000), tier.mark(at(1).key), yes);
  await tier.idle();
  expect(tier.view()).toMatchObject({ tiles: 0, bytes: 0, failures: 0 });
});

test("a disk that cannot be written is counted, asked again after a pause, and throws nowhere", async () => {
  const { tier, directory, failures, advance } = await open(1_000_000);
  rmSync(directory, { recursive: true });
  writeFileSync(directory, "in the way");
  tier.keep(at(1), tile(10), tier.mark(at(1).key), yes);
  await tier.idle();
  expect(tier.view()).toMatchObject({ tiles: 0, bytes: 0, failures: 1 });
  tier.keep(at(2), tile(10), tier.mark(at(2).key), yes);
  await tier.idle();
  expect(failures).toHaveLength(1);
  rmSync(directory);
  mkdirSync(directory);
  advance(5_001);
  tier.keep(at(3), tile(10), tier.mark(at(3).key), yes);
  await tier.idle();
  expect(tier.get(at(3))).toBeDefined();
});

test("a file that is gone or cut off is no tile, and is counted as a fault", async () => {
  const { tier, directory, failures } = await open(1_000_000);
  for (const n of [1, 2]) {
    tier.keep(at(n), tile(10), tier.mark(at(n).key), yes);
    await tier.idle();
  }
  const [gone = "", cut = ""] = filesIn(directory).sort();
  rmSync(gone);
  truncateSync(cut, 5);
  expect([tier.get(at(1)), tier.get(at(2))]).toEqual([undefined, undefined]);
  expect(failures).toHaveLength(2);
  await tier.idle();
  expect(tier.view()).toMatchObject({ tiles: 0, bytes: 0 });
});

test("a full disk costs one failure, and after a pause tiles are kept again", async () => {
  let isFull = true;
  const disk: Disk = {
    ...machineDisk,
    writeFile: (...write) =>
      isFull ? Promise.reject(Object.assign(new Error("full"), { code: "ENOSPC" })) : machineDisk.writeFile(...write),
  };
  const { tier, failures, advance } = await open(1_000_000, undefined, disk);
  const kept = async (): Promise<boolean> => {
    tier.keep(at(1), tile(100), tier.mark(at(1).key), yes);
    await tier.idle();
    return tier.get(at(1)) !== undefined;
  };
  expect(await kept()).toBe(false);
  isFull = false;
  expect(await kept(), "in the pause").toBe(false);
  advance(5_000);
  expect(await kept()).toBe(true);
  expect(failures).toMatchObject([{ code: "ENOSPC" }]);
});
