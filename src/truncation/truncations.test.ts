import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { idleRenders } from "../../test/support/jobs/idle-renders.ts";
import { openTestDatabase } from "../../test/support/postgres/test-database.ts";
import { silentLog } from "../../test/support/silent-log.ts";
import { FaultyDisk } from "../../test/support/stores/faulty-disk.ts";
import { inDirectory } from "../../test/support/stores/in-directory.ts";
import { unconditionally } from "../../test/support/stores/memory-store.ts";
import { Ledger } from "../ledger/ledger.ts";
import { ledgerTables } from "../ledger/ledger-tables.ts";
import { atOnce } from "../lib/process/slices.ts";
import { ok } from "../lib/result.ts";
import { machineClock } from "../lib/time/machine-clock.ts";
import type { RenderControl } from "../render/render-control.ts";
import { StateError } from "../state/data-directory.ts";
import type { Database } from "../state/database.ts";
import { createFileStore } from "../store/file/file-store.ts";
import { type TruncationTarget, truncationTables } from "./recorded-truncation.ts";
import { type Aside, LedgerTruncations } from "./truncations.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nuthatch-truncations-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const z = 8;
const pyramid = { layer: "a", gridSet: "g", parametersId: "" };
const FORMATS = ["image/png", "image/jpeg"];

function open(root: string, renders: RenderControl = idleRenders, outage: Outage = new Outage()) {
  const db = outage.of(openTestDatabase(join(root, "state.db")));
  db.createTables([ledgerTables, truncationTables]);
  const disk = new FaultyDisk();
  const store = createFileStore({ ...inDirectory(join(root, "tiles")), machine: disk.machine });
  const ledger = new Ledger({ db, store, boot: "boot", clock: machineClock });
  return { db, disk, store, ledger, ledgerTruncations: new LedgerTruncations(db, store, ledger, renders, silentLog) };
}

/** Refuses the commits of a database for a while, like a remote database that is unavailable. */
class Outage {
  /** The number of further successful commits. Undefined: all commits succeed. */
  commits: number | undefined;

  of(db: Database): Database {
    const refusing = <T>(body: () => T): T => {
      const value = body();
      if (this.commits !== undefined && this.commits-- <= 0) throw new StateError("unavailable", "it is away");
      return value;
    };
    return {
      ...db,
      transaction: (body) => db.transaction(() => refusing(body)),
      unsynced: (body) => db.unsynced(() => refusing(body)),
    };
  }
}

type Opened = ReturnType<typeof open>;

async function put({ db, store, ledger }: Opened, tiles: ReadonlyMap<string, number>): Promise<void> {
  for (const [key, size] of tiles) {
    const [format = "", x = 0, y = 0] = key.split(" ").map((part, i) => (i === 0 ? part : Number(part)));
    const tileSet = { ...pyramid, format: String(format) };
    const at = { x: Number(x), y: Number(y), z };
    const cells = ledger.writers.open(tileSet, { z, minX: at.x, minY: at.y, maxX: at.x, maxY: at.y });
    db.transaction(() => ledger.writeMarks());
    const outcome = await store.put({ tileSet, ...at }, new Uint8Array(size), ...unconditionally);
    if (outcome.stored) ledger.writers.wrote(tileSet, { ...at, bytes: size, replaced: outcome.replaced });
    ledger.writers.close(cells);
  }
}

function expectStored({ store, ledger }: Opened, expected: ReadonlyMap<string, number>): void {
  while (ledger.doubted.countSome(1000));
  const found = FORMATS.flatMap((format) =>
    store
      .recount({ ...pyramid, format }, { z, minX: 0, minY: 0, maxX: 511, maxY: 511 }, false)
      .map(({ x, y, bytes }): [string, number] => [`${format} ${x} ${y}`, bytes]),
  );
  expect(new Map(found.sort())).toEqual(new Map([...expected].sort()));
  const { tiles, bytes } = ledger.sums.total;
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

/** Makes the nth rename of a directory fail, before or after it. */
function failRename(disk: FaultyDisk, n: number, when: "before" | "after") {
  let left = n;
  disk[when] = (operation) => {
    if (operation === "renameSync" && left-- === 0) throw new Error("interrupted");
  };
  return {
    end(): boolean {
      disk[when] = () => {};
      return left < 0;
    },
  };
}

test("an undo that is interrupted anywhere is completed: the old tiles are back, none that was stored since is left, and the records are exact", async () => {
  let n = 0;
  let interruptions = 0;
  await fc.assert(
    fc.asyncProperty(
      tiles(fc.integer({ min: 1, max: 99 })),
      tiles(fc.integer({ min: 100, max: 999 })),
      fc.constantFrom("layer" as const, "pyramid" as const),
      fc.nat(3),
      fc.constantFrom("before" as const, "after" as const),
      fc.constantFrom("kill" as const, "try again" as const),
      fc.boolean(),
      async (old, newer, kind, renames, when, then, isFlushed) => {
        const root = join(directory, String(n++));
        mkdirSync(root);
        let at = open(root);
        await put(at, old);
        if (isFlushed) at.ledger.flush();
        const target: TruncationTarget = kind === "layer" ? { kind, layer: "a" } : { kind, pyramid };
        let names: readonly string[] = [];
        await at.ledgerTruncations.truncate(
          "a",
          () => [target],
          (_, planned) => {
            names = planned;
            return 1;
          },
        );
        expectStored(at, new Map());
        await put(at, newer);
        let state = "kept";
        let discarded: bigint | undefined;
        const aside: Aside = {
          id: 1,
          layer: "a",
          names,
          pyramids: old.size === 0 ? [] : [{ gridSet: "g", parametersId: "", complete: true }],
        };
        let completed = 0;
        const ended = (): void => {
          state = "undone";
        };
        const failure = failRename(at.disk, renames, when);
        const { ledger } = at;
        const undoing = at.ledgerTruncations.undo(
          "a",
          {
            plan: () => ok({ aside, discarded: [target] }),
            begun: () => {
              discarded = ledger.countOf({ layer: "a" })?.tiles;
              state = "undoing";
            },
            ended,
            completed: () => {
              completed++;
            },
          },
          new AbortController().signal,
        );
        let isInterrupted = false;
        await undoing.catch((error: unknown) => {
          expect(String(error)).toContain("interrupted");
          isInterrupted = true;
        });
        if (failure.end()) interruptions++;
        expect(discarded).toBe(BigInt(newer.size));
        expect([state, at.ledger.writers.isBarred("a")]).toEqual([isInterrupted ? "undoing" : "undone", isInterrupted]);
        if (isInterrupted) {
          // Files and records may differ: an eviction by the records could remove restored tiles.
          const all = at.ledger.eviction.coldest({
            order: "LRU",
            ofLayer: () => true,
            keep: () => "none",
            colderThan: Number.POSITIVE_INFINITY,
          });
          expect(atOnce(all.next())).toBeUndefined();
        }
        if (isInterrupted && then === "kill") {
          at.db.close();
          at = open(root);
          at.ledgerTruncations.finishUndo(aside, ended);
        } else {
          at.ledgerTruncations.interrupted.complete("a");
          expect([completed, at.ledger.writers.isBarred("a")]).toEqual([1, false]);
        }
        expect(state).toBe("undone");
        expectStored(at, old);
        at.db.close();
      },
    ),
    { numRuns: 40 },
  );
  expect(interruptions).toBeGreaterThan(5);
});

/** Returns whether a writer that opens a cell may write at once. Without a record it waits for the database. */
function mayWrite({ ledger }: Opened): boolean {
  try {
    const opened = ledger.writers.open({ ...pyramid, format: "image/png" }, { z, minX: 0, minY: 0, maxX: 0, maxY: 0 });
    ledger.writers.close(opened);
    return !opened.mustCommit;
  } catch {
    return false;
  }
}

test("a truncation that an outage interrupts is completed before a tile is stored in its layer, and removes no newer tile", async () => {
  let n = 0;
  let interruptions = 0;
  await fc.assert(
    fc.asyncProperty(
      tiles(fc.integer({ min: 1, max: 99 })),
      tiles(fc.integer({ min: 100, max: 999 })),
      fc.constantFrom<TruncationTarget>(
        { kind: "layer", layer: "a" },
        { kind: "pyramid", pyramid },
        { kind: "zooms", pyramid, zooms: [z, z + 1] },
      ),
      fc.nat(3),
      fc.option(fc.constant(1), { nil: undefined }),
      fc.boolean(),
      fc.boolean(),
      async (old, newer, target, commits, aside, isOpen, isKilled) => {
        const root = join(directory, String(n++));
        mkdirSync(root);
        const outage = new Outage();
        let at = open(root, idleRenders, outage);
        await put(at, old);
        at.ledger.flush();
        const rect = { z, minX: 0, minY: 0, maxX: 300, maxY: 300 };
        const cells = isOpen
          ? FORMATS.map((format) => at.ledger.writers.open({ ...pyramid, format }, rect))
          : undefined;
        at.ledger.flush();
        outage.commits = commits;
        let isRecorded = false;
        const fault = await at.ledgerTruncations
          .truncate(
            "a",
            () => [target],
            () => {
              isRecorded = commits > 0;
              return target.kind === "zooms" ? undefined : aside;
            },
          )
          .catch((error: unknown) => error);
        if (fault !== undefined && isRecorded) {
          interruptions++;
          expect(() => at.ledgerTruncations.interrupted.complete("a")).toThrow("it is away");
          expect(mayWrite(at)).toBe(false);
        }
        outage.commits = undefined;
        if (isKilled) {
          at.db.close();
          at = open(root, idleRenders, outage);
        } else {
          at.ledgerTruncations.interrupted.complete("a");
          for (const open of cells ?? []) at.ledger.writers.close(open);
        }
        expectStored(at, isRecorded ? new Map() : old);
        if (!isRecorded) return at.db.close();
        await put(at, newer);
        expectStored(at, newer);
        at.ledger.flush();
        at.db.close();
        at = open(root);
        expectStored(at, newer);
        at.db.close();
      },
    ),
    { numRuns: 30 },
  );
  expect(interruptions).toBeGreaterThan(5);
});

test("a truncation waits for writers that are about to store in its layer, and for no others", async () => {
  const steps: string[] = [];
  const root = join(directory, "waits");
  mkdirSync(root);
  const at = open(root, {
    ...idleRenders,
    block: async () => void steps.push("block"),
    unblock: () => steps.push("unblock"),
    renew: () => steps.push("renew"),
  });
  const truncateAll = (): Promise<void> =>
    at.ledgerTruncations.truncate("a", () => {
      steps.push("truncate");
      return [{ kind: "layer", layer: "a" }];
    });
  const rect = { z, minX: 0, minY: 0, maxX: 7, maxY: 7 };
  const others = at.ledger.writers.open({ ...pyramid, layer: "b", format: "image/png" }, rect);
  await truncateAll();
  expect(steps.splice(0)).toEqual(["truncate", "renew"]);
  const cells = FORMATS.map((format) => at.ledger.writers.open({ ...pyramid, format }, rect));
  for (const open of cells) {
    await truncateAll();
    expect(steps.splice(0)).toEqual(["block", "truncate", "unblock"]);
    at.ledger.writers.close(open);
  }
  await truncateAll();
  expect(steps.splice(0)).toEqual(["truncate", "renew"]);
  at.ledger.writers.close(others);
  at.db.close();
});
