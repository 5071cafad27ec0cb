import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { inPostgres, openTestDatabase } from "../../test/support/postgres/test-database.ts";
import { createMemoryStore, unconditionally } from "../../test/support/stores/memory-store.ts";
import { Ledger } from "../ledger/ledger.ts";
import { ledgerTables } from "../ledger/ledger-tables.ts";
import { machineClock } from "../lib/time/machine-clock.ts";
import type { StoredSize } from "../render/admission.ts";
import type { Database } from "../state/database.ts";
import type { DiskSpace } from "../store/tile-store.ts";
import type { EvictionOptions } from "./configuration/eviction-options.ts";
import { DEFAULT_QUOTA, type QuotaConfiguration } from "./configuration/quota-configuration.ts";
import { countedSize, QUOTA_COUNTS } from "./configuration/quota-count.ts";
import { DiskSpaceMonitor } from "./disk/disk-space-monitor.ts";
import { Disks } from "./disk/disks.ts";
import { Enforcer } from "./enforcer.ts";
import { Eviction } from "./eviction.ts";
import { type Reservation, Reservations } from "./reservations.ts";

let directory = "";
let databases: Database[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nuthatch-enforcer-"));
  databases = [];
});
afterEach(() => {
  for (const db of databases) db.close();
  rmSync(directory, { recursive: true, force: true });
});

const bytes = (value: number): QuotaConfiguration => ({
  ...DEFAULT_QUOTA,
  enabled: true,
  globalQuota: { value: String(value), units: "B" },
});

/** The bytes of a block of the disk. */
const BLOCK = 64;
/** The size of files of `bytes` in total. The disk allocates whole blocks for each file. */
const sized = (bytes: number, files: number): StoredSize => ({
  bytes,
  allocated: Math.ceil(bytes / BLOCK) * BLOCK,
  files,
});

const AMPLE: DiskSpace = { freeBytes: 2 ** 50, totalBytes: 2 ** 50, freeInodes: 2 ** 30, totalInodes: 2 ** 30 };

function quotaOf(
  quota: QuotaConfiguration | (() => QuotaConfiguration),
  request: () => Promise<DiskSpace> = async () => AMPLE,
  water: Partial<EvictionOptions> = {},
  disks?: Pick<Disks, "of" | "sharing">,
) {
  const configuration = typeof quota === "function" ? quota : () => quota;
  const db = openTestDatabase(join(directory, `${databases.length}.db`));
  databases.push(db);
  db.createTables([ledgerTables]);
  const store = createMemoryStore(BLOCK);
  const ledger = new Ledger({ db, store, boot: "boot", clock: machineClock });
  const reservations = new Reservations();
  const options = () => ({
    count: "content" as const,
    highWaterPercent: 100,
    lowWaterPercent: 100,
    minFreeMiB: 1000 / 2 ** 20,
    minFreeInodes: 10,
    pins: [],
    floors: [],
    ...water,
  });
  const disk = new DiskSpaceMonitor({
    read: request,
    clock: machineClock,
  });
  const enforcer = new Enforcer({
    ledger,
    reservations,
    eviction: new Eviction({ ledger, options, evicted: () => undefined }),
    disks: disks ?? { of: () => disk, sharing: () => undefined },
    configuration,
    options,
    clock: machineClock,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  });
  const at = (layer: string) => ({ layer, gridSet: "g", format: "image/png", parametersId: "" });
  /** Stores one tile in a separate cell under a reservation, as a renderer does. */
  const write = async (reservation: Reservation, n: number, size: number): Promise<void> => {
    const tile = { x: 16 * n, y: 0, z: 14 };
    const tileSet = at(reservation.layer);
    const open = ledger.writers.open(tileSet, { z: 14, minX: tile.x, minY: 0, maxX: tile.x, maxY: 0 });
    db.transaction(() => ledger.writeMarks());
    const put = await store.put({ tileSet, ...tile }, new Uint8Array(size), ...unconditionally);
    const replaced = put.stored ? put.replaced : undefined;
    ledger.writers.wrote(tileSet, { ...tile, bytes: size, replaced });
    reservation.count(replaced === undefined ? sized(size, 1) : sized(0, 0));
    ledger.writers.close(open);
  };
  return { enforcer, reservations, ledger, write };
}

type Quota = ReturnType<typeof quotaOf>;

test.each(QUOTA_COUNTS)(
  "the sum of usage and reservations, counted as %s, never passes the limit, whatever users and seeds reserve, write and release",
  async (count) => {
    const LIMIT = 1000;
    const step = fc.oneof(
      fc.record({ kind: fc.constant("reserve" as const), user: fc.boolean(), size: fc.integer({ min: 0, max: 400 }) }),
      fc.record({ kind: fc.constantFrom("write" as const, "release" as const), which: fc.nat(50) }),
    );
    const held = ({ ledger, reservations }: Quota): bigint =>
      countedSize(ledger.sums.total, count) + countedSize(reservations.sumOf(undefined), count);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const quota = quotaOf(bytes(LIMIT), undefined, { count });
        const given: { reservation: Reservation; size: number }[] = [];
        const requested: Promise<unknown>[] = [];
        let cells = 0;
        for (const one of steps) {
          if (one.kind === "reserve") {
            const reservation = quota.reservations.begin("a", one.user ? "user" : "seed");
            const size = sized(one.size, 1);
            requested.push(
              quota.enforcer.reserve(reservation, size).then(({ kind }) => {
                if (kind === "store") given.push({ reservation, size: one.size });
                else reservation.release();
              }),
            );
            // After this turn only requests that wait for other writers are unanswered.
            await new Promise(setImmediate);
          } else {
            const [writer] = given.splice(one.which % Math.max(1, given.length), 1);
            if (one.kind === "write" && writer !== undefined && writer.size > 0)
              await quota.write(writer.reservation, cells++, writer.size);
            writer?.reservation.release();
          }
          expect(held(quota)).toBeLessThanOrEqual(BigInt(LIMIT));
        }
        // No writer waits forever: the last of the other writers frees space, or there is no space.
        let all = false;
        void Promise.all(requested).then(() => {
          all = true;
        });
        while (!all) {
          for (const { reservation } of given.splice(0)) reservation.release();
          await new Promise(setImmediate);
          expect(held(quota)).toBeLessThanOrEqual(BigInt(LIMIT));
        }
        for (const { reservation } of given) reservation.release();
        expect(quota.reservations.sumOf(undefined)).toEqual({ bytes: 0n, allocated: 0n, files: 0 });
        // Closes the connection to PostgreSQL and its thread after each run.
        databases.pop()?.close();
      }),
      // Opening a database takes a second in PostgreSQL on a busy machine.
      { numRuns: inPostgres ? 15 : 60 },
    );
  },
  60_000,
);

test("a seed does not wait for space that was released while cells to evict were looked for", async () => {
  const quota = quotaOf(bytes(1000));
  const user = quota.reservations.begin("a", "user");
  expect(await quota.enforcer.reserve(user, sized(1000, 1))).toEqual({ kind: "store" });
  vi.spyOn(Eviction.prototype, "freeSpace").mockImplementationOnce(async () => {
    user.release();
    return undefined;
  });
  const seed = quota.reservations.begin("a", "seed");
  expect(await quota.enforcer.reserve(seed, sized(500, 1))).toEqual({ kind: "store" });
});

test("what one write needs is evicted, and no cell more", async () => {
  const quota = quotaOf(bytes(1000));
  const user = quota.reservations.begin("a", "user");
  for (let n = 0; n < 10; n++) {
    expect((await quota.enforcer.reserve(user, sized(100, 1))).kind).toBe("store");
    await quota.write(user, n, 100);
  }
  expect(quota.ledger.sums.total.bytes).toBe(1000n);
  expect((await quota.enforcer.reserve(user, sized(150, 1))).kind).toBe("store");
  expect([quota.ledger.sums.total.bytes, user.size.bytes]).toEqual([800n, 150]);
});

test("a tile that is larger than the quota is refused, and nothing is evicted for it", async () => {
  const quota = quotaOf(bytes(1000));
  const user = quota.reservations.begin("a", "user");
  await quota.enforcer.reserve(user, sized(900, 1));
  await quota.write(user, 0, 900);
  expect((await quota.enforcer.reserve(user, sized(1001, 1))).kind).toBe("full");
  expect(quota.ledger.sums.total.bytes).toBe(900n);
});

test("while the file system does not answer, nothing is stored and no request waits", async () => {
  const quota = quotaOf({ ...DEFAULT_QUOTA, enabled: false }, () => new Promise(() => undefined));
  const user = quota.reservations.begin("a", "user");
  const began = performance.now();
  const answers = await Promise.all(Array.from({ length: 100 }, () => quota.enforcer.reserve(user, sized(1, 1))));
  expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toEqual(
    new Set([JSON.stringify({ kind: "store_away", reason: "the file system of the store does not answer" })]),
  );
  expect(performance.now() - began).toBeLessThan(10_000);
  expect(user.size).toEqual(sized(0, 0));
});

test("reserved sizes count against the free space of the disk too", async () => {
  const free = { ...AMPLE, freeBytes: 1512, freeInodes: 100 };
  const quota = quotaOf({ ...DEFAULT_QUOTA, enabled: false }, async () => free);
  const kinds: string[] = [];
  for (let n = 0; n < 6; n++) {
    const user = quota.reservations.begin("a", "user");
    kinds.push((await quota.enforcer.reserve(user, sized(119, 1))).kind);
  }
  expect(kinds, "a reserve of 1000 of the 1512 bytes, and 128 for each tile").toEqual([
    "store",
    "store",
    "store",
    "store",
    "disk_full",
    "disk_full",
  ]);
});

test("space is reserved ahead only while 64 MiB and a thousand files stay free beside it, of quota and disk", async () => {
  const MIB = 2 ** 20;
  const ahead = sized(MIB, 1);
  const grants = ({ enforcer, reservations }: Quota): number => {
    let granted = 0;
    while (granted < 1_000 && enforcer.reserveAhead(reservations.begin("a", "user"), ahead)) granted++;
    return granted;
  };
  const measured = async (quota: Quota): Promise<Quota> => {
    await quota.enforcer.reserve(quota.reservations.begin("a", "user"), sized(0, 0));
    return quota;
  };
  const byQuota = await measured(quotaOf(bytes(80 * MIB)));
  expect(grants(byQuota)).toBe(16);
  expect(byQuota.reservations.sumOf(undefined).bytes).toBe(BigInt(16 * MIB));
  const writer = byQuota.reservations.begin("a", "user");
  expect(byQuota.enforcer.tryReserve(writer, sized(64 * MIB, 1)), "the rest is free for others").toBe(true);
  expect(byQuota.enforcer.tryReserve(writer, sized(1, 0)), "the limit holds").toBe(false);
  const unlimited = { ...DEFAULT_QUOTA, enabled: false };
  const byDisk = await measured(quotaOf(unlimited, async () => ({ ...AMPLE, freeBytes: 70 * MIB + 100_000 })));
  expect(grants(byDisk)).toBe(6);
  const byFiles = await measured(quotaOf(unlimited, async () => ({ ...AMPLE, freeInodes: 1_014 })));
  expect(grants(byFiles)).toBe(4);
  const released = byQuota.reservations.begin("a", "user");
  released.release();
  expect(byQuota.enforcer.reserveAhead(released, ahead)).toBe(false);
});

test("a clean-up brings usage from above the high-water share to the low-water share, and not before", async () => {
  const configuration = { current: bytes(2000) };
  const quota = quotaOf(() => configuration.current, undefined, { highWaterPercent: 90, lowWaterPercent: 50 });
  const user = quota.reservations.begin("a", "user");
  for (let n = 0; n < 9; n++) {
    await quota.enforcer.reserve(user, sized(100, 1));
    await quota.write(user, n, 100);
  }
  configuration.current = bytes(1000);
  await quota.enforcer.cleanUp();
  expect(quota.ledger.sums.total.bytes, "900 of 1000 bytes are no more than the high-water share").toBe(900n);
  configuration.current = bytes(950);
  await quota.enforcer.cleanUp();
  expect(quota.ledger.sums.total.bytes).toBe(400n);
  expect(quota.enforcer.counts).toMatchObject({ cleanUps: 1, evictedTiles: 5, evictedBytes: 500 });
});

test("a clean-up gives up truncated tiles first, and ends when the quota is changed", async () => {
  const configuration = { current: bytes(2000) };
  const quota = quotaOf(() => configuration.current);
  const given: unknown[] = [];
  quota.enforcer.attach({
    seedRanges: () => [],
    giveUpTruncated(isChosen) {
      given.push([isChosen("a"), isChosen("b"), quota.ledger.sums.total.bytes]);
      configuration.current = bytes(3000);
    },
    isReclaiming: () => false,
  });
  const user = quota.reservations.begin("a", "user");
  await quota.enforcer.reserve(user, sized(800, 1));
  await quota.write(user, 0, 800);
  configuration.current = bytes(100);
  await quota.enforcer.cleanUp();
  expect(given).toEqual([[true, true, 800n]]);
  expect(quota.ledger.sums.total.bytes).toBe(800n);
});

test("a user's write evicts at most 64 cells, a seed as many as it needs", async () => {
  const configuration = { current: bytes(100_000) };
  const quota = quotaOf(() => configuration.current);
  const first = quota.reservations.begin("a", "user");
  for (let n = 0; n < 100; n++) {
    await quota.enforcer.reserve(first, sized(10, 1));
    await quota.write(first, n, 10);
  }
  configuration.current = bytes(1000);
  const user = quota.reservations.begin("a", "user");
  expect((await quota.enforcer.reserve(user, sized(800, 1))).kind).toBe("busy");
  expect(quota.ledger.sums.total.bytes).toBe(360n);
  const seed = quota.reservations.begin("a", "seed");
  expect((await quota.enforcer.reserve(seed, sized(900, 1))).kind).toBe("store");
  expect(quota.ledger.sums.total.bytes).toBe(100n);
});

test("a layer's own quota refuses its tiles while the global quota has space", async () => {
  const own = { layer: "a", expirationPolicyName: "LRU", quota: { value: "100", units: "B" } } as const;
  const quota = quotaOf({ ...bytes(10_000), layerQuotas: [own] });
  const writer = (layer: string) => quota.reservations.begin(layer, "user");
  expect((await quota.enforcer.reserve(writer("a"), sized(101, 1))).kind).toBe("full");
  expect((await quota.enforcer.reserve(writer("b"), sized(101, 1))).kind).toBe("store");
});

test("a full disk refuses only the layers whose tiles are there, and evicts only theirs", async () => {
  const full = { ...AMPLE, freeBytes: 1200, freeInodes: 100 };
  const disks = new Disks(
    { read: async () => full, clock: machineClock },
    {
      diskOf: (layer) => (layer === "b" ? "large" : "small"),
      spaceOf: async (disk) => (disk === "small" ? full : AMPLE),
    },
  );
  const { enforcer, reservations, ledger, write } = quotaOf(bytes(1_000_000), undefined, {}, disks);
  const store = async (layer: string, n: number, size: number): Promise<string> => {
    const reservation = reservations.begin(layer, "user");
    const { kind } = await enforcer.reserve(reservation, sized(size, 1));
    if (kind === "store") await write(reservation, n, size);
    reservation.release();
    return kind;
  };
  expect(await store("b", 1, 150)).toBe("store");
  expect(await store("a", 1, 150)).toBe("store");
  expect(await store("b", 2, 5000)).toBe("store");
  // 200 bytes are free beyond the reserve of 1,000. The tile of `a` is evicted, which frees nothing on this disk.
  expect(await store("a", 2, 201)).not.toBe("store");
  expect([ledger.sums.of("a").tiles, ledger.sums.of("b").tiles]).toEqual([0n, 2n]);
});
