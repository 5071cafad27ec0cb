import { mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { idlePurges } from "../../test/support/idle-purges.ts";
import { idleRenders } from "../../test/support/jobs/idle-renders.ts";
import { layerNamed } from "../../test/support/layer.ts";
import { ManualClock } from "../../test/support/manual-clock.ts";
import { openTestDatabase } from "../../test/support/postgres/test-database.ts";
import { silentLog } from "../../test/support/silent-log.ts";
import { inDirectory } from "../../test/support/stores/in-directory.ts";
import { unconditionally } from "../../test/support/stores/memory-store.ts";
import { catalogueOf } from "../layer/catalogue.ts";
import { Ledger } from "../ledger/ledger.ts";
import { ledgerTables } from "../ledger/ledger-tables.ts";
import type { RenderControl } from "../render/render-control.ts";
import type { Database } from "../state/database.ts";
import { createFileStore } from "../store/file/file-store.ts";
import { MassTruncationService } from "./mass-truncation-service.ts";
import { MassTruncationStore, massTruncationTables } from "./mass-truncation-store.ts";
import { truncationTables } from "./recorded-truncation.ts";
import { LedgerTruncations } from "./truncations.ts";

const layers = [layerNamed("a"), layerNamed("b")];
const gridSet = layers[0]?.gridSubsets[0]?.gridSet.id ?? "";
const WINDOW_SECONDS = 600;
const hard = (layer: string) => ({ type: "truncateLayer", mode: "hard", layer }) as const;

let root = "";
let open: Database[] = [];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "nuthatch-mass-truncation-"));
});
afterEach(() => {
  for (const db of open) db.close();
  open = [];
  rmSync(root, { recursive: true, force: true });
});

function start({ clock = new ManualClock(Date.UTC(2026, 0, 1)), undoSeconds = WINDOW_SECONDS } = {}) {
  const db = openTestDatabase(join(root, "state.db"));
  open.push(db);
  db.createTables([ledgerTables, truncationTables, massTruncationTables]);
  const store = createFileStore(inDirectory(join(root, "tiles")));
  const ledger = new Ledger({ db, store, boot: "boot", clock });
  const expired: (readonly [string, number])[] = [];
  let sweeps = 0;
  const renders: RenderControl = {
    ...idleRenders,
    expireBefore: (layer, beforeMs) => void expired.push([layer, beforeMs]),
  };
  const service = new MassTruncationService({
    hasTilesOnDisk: (layer) => layer === "copied",
    db,
    store,
    ledger,
    catalogue: () => catalogueOf(layers),
    truncations: new MassTruncationStore(db),
    ledgerTruncations: new LedgerTruncations(db, store, ledger, renders, silentLog),
    renders,
    undoSeconds: () => undoSeconds,
    reclaim: { sweep: () => void sweeps++ },
    purges: idlePurges,
    restored: () => undefined,
    changed: () => undefined,
    clock,
    log: silentLog,
    closing: new AbortController().signal,
  });
  const address = (layer: string, x: number, parametersId = "") => ({
    tileSet: { layer, gridSet, format: "image/png", parametersId },
    x,
    y: 0,
    z: 3,
  });
  const put = async (layer: string, x: number, parametersId = ""): Promise<void> => {
    const { tileSet } = address(layer, x, parametersId);
    const cells = ledger.writers.open(tileSet, { z: 3, minX: x, minY: 0, maxX: x, maxY: 0 });
    db.transaction(() => ledger.writeMarks());
    const outcome = await store.put(address(layer, x, parametersId), new Uint8Array(10), ...unconditionally);
    if (outcome.stored) ledger.writers.wrote(tileSet, { x, y: 0, z: 3, bytes: 10, replaced: outcome.replaced });
    ledger.writers.close(cells);
  };
  const isStored = (layer: string, x: number): boolean => store.stat(address(layer, x)) !== undefined;
  return { clock, store, ledger, service, put, isStored, expired, swept: () => sweeps };
}

test("an undo brings back the tiles of the truncation and discards those stored since", async () => {
  const { service, put, isStored, ledger } = start();
  await put("a", 0);
  await put("a", 1);
  const made = await service.truncate(hard("a"), "ann");
  expect(made).toMatchObject({ state: "kept", tiles: 2n, bytes: 20n, createdBy: "ann", discarded: null });
  expect([isStored("a", 0), ledger.sums.total.tiles]).toEqual([false, 0n]);
  await put("a", 2);
  expect(await service.undoTruncation(made.id, "bob")).toMatchObject({
    ok: true,
    value: { state: "undone", endedBy: "bob", discarded: 1n },
  });
  expect([0, 1, 2].map((x) => isStored("a", x))).toEqual([true, true, false]);
  expect(ledger.sums.total).toMatchObject({ tiles: 2n, bytes: 20n });
  expect(await service.undoTruncation(made.id, "bob")).toMatchObject({ ok: false, error: { code: "conflict" } });
});

test("where another program's tiles are on the disk, the time of a truncation is recorded, so that they stay away", async () => {
  const { service, expired } = start();
  await service.truncate(hard("a"), null);
  expect(service.softTimes.get("a")).toBeUndefined();
  await service.truncate(hard("copied"), "ann");
  expect(service.softTimes.get("copied")).toBeGreaterThan(0);
  expect(expired.at(-1)).toMatchObject(["copied", service.softTimes.get("copied")]);
  expect(await service.truncations({ limit: 10 })).toMatchObject([
    { layer: "copied", mode: "hard" },
    { layer: "copied", mode: "soft", createdBy: "ann" },
    { layer: "a" },
  ]);
});

test("a preview tells what each type would remove, and removes nothing", async () => {
  const { service, put, ledger } = start();
  for (const x of [0, 1]) await put("a", x);
  // The layer has no filters, so the configuration cannot reach this combination.
  await put("a", 2, "0123456789abcdef0123456789abcdef01234567");
  const orphans = { type: "truncateOrphans", mode: "hard", layer: "a" } as const;
  expect(await service.previewTruncation(hard("a"))).toMatchObject({ tiles: 3n, bytes: 30n, complete: true });
  expect(await service.previewTruncation(orphans)).toEqual({
    ...orphans,
    parameters: null,
    tiles: 1n,
    bytes: 10n,
    bytesOnDisk: ledger.sums.total.allocated / 3n,
    complete: true,
  });
  expect(ledger.sums.total.tiles).toBe(3n);
  expect(await service.truncate(orphans, null)).toMatchObject({ tiles: 1n, bytes: 10n });
});

test("a step of the wall clock does not change how long a truncation can be undone", async () => {
  const { service, put, clock } = start();
  await put("a", 0);
  const { id } = await service.truncate(hard("a"), null);
  clock.pass(WINDOW_SECONDS * 1000 - 1);
  clock.setWallClock(86_400_000);
  service.tick();
  expect(await service.truncation(id)).toMatchObject({ state: "kept" });
  clock.pass(1);
  clock.setWallClock(-2 * 86_400_000);
  service.tick();
  expect(await service.truncation(id)).toMatchObject({ state: "reclaimed" });
});

test("without a window, and without tiles, a truncation keeps nothing", async () => {
  const { service, put, store } = start({ undoSeconds: 0 });
  await put("a", 0);
  expect(await service.truncate(hard("a"), null)).toMatchObject({ state: "reclaimed", tiles: 1n, undoUntil: null });
  expect(await service.truncate(hard("b"), null)).toMatchObject({ state: "reclaimed", tiles: 0n });
  expect(store.asideIds()).toEqual([]);
});

test("only the latest truncation of a layer can be undone, and then the one before", async () => {
  const { service, put, isStored } = start();
  await put("a", 0);
  const first = await service.truncate(hard("a"), null);
  await put("a", 1);
  const second = await service.truncate(hard("a"), null);
  const refused = await service.undoTruncation(first.id, null);
  expect(refused).toMatchObject({ ok: false, error: { code: "conflict" } });
  expect(JSON.stringify(refused)).toContain(`Truncation ${second.id} of the layer is later than ${first.id}`);
  expect(await service.undoTruncation(second.id, null)).toMatchObject({ ok: true, value: { discarded: 0n } });
  expect(await service.undoTruncation(first.id, null)).toMatchObject({ ok: true, value: { discarded: 1n } });
  expect([isStored("a", 0), isStored("a", 1)]).toEqual([true, false]);
});

test("truncations of one layer are reclaimed for space, those of others stay", async () => {
  const { service, put, store } = start();
  await put("a", 0);
  await put("b", 0);
  const [a, b] = [await service.truncate(hard("a"), null), await service.truncate(hard("b"), null)];
  service.giveUp("a");
  expect(await service.truncation(a.id)).toMatchObject({ state: "reclaimed" });
  expect(await service.truncation(b.id)).toMatchObject({ state: "kept" });
  expect(store.asideIds()).toEqual([String(b.id)]);
  expect(await service.undoTruncation(a.id, null)).toMatchObject({ ok: false });
  expect(await service.undoTruncation(b.id, null)).toMatchObject({ ok: true });
});

test("after a restart the wall clock gives the time that is left", async () => {
  const before = start();
  await before.put("a", 0);
  await before.put("b", 0);
  const stored = await before.service.truncate(hard("a"), null);
  open.pop()?.close();
  const clock = new ManualClock(before.clock.now() + 1_000);
  const { service, isStored } = start({ clock });
  clock.pass(WINDOW_SECONDS * 1000 - 1_001);
  service.tick();
  expect(await service.undoTruncation(stored.id, null)).toMatchObject({ ok: true });
  expect(isStored("a", 0)).toBe(true);
});

test("after a restart, files without a record are given up, and a record without files is reclaimed", async () => {
  const before = start();
  await before.put("a", 0);
  await before.put("b", 0);
  const { id } = await before.service.truncate(hard("a"), null);
  before.store.discard(String(id));
  before.store.truncate("4711", before.store.plan({ kind: "layer", layer: "b" }), "keep");
  open.pop()?.close();
  const { service, store } = start();
  expect(store.asideIds()).toEqual([]);
  service.tick();
  expect(await service.truncation(id)).toMatchObject({ state: "reclaimed" });
});

test("tiles of truncations whose time ends while the store is away are discarded when it is back", async () => {
  const { service, put, store, clock, swept } = start();
  await put("a", 0);
  const { id } = await service.truncate(hard("a"), null);
  await put("b", 0);
  renameSync(join(root, "tiles"), join(root, "away"));
  clock.pass(WINDOW_SECONDS * 1000);
  service.tick();
  expect(await service.truncation(id)).toMatchObject({ state: "reclaimed" });
  service.tick();
  renameSync(join(root, "away"), join(root, "tiles"));
  const kept = await service.truncate(hard("b"), null);
  expect(store.asideIds()).toEqual([String(id), String(kept.id)]);
  const before = swept();
  service.tick();
  expect(store.asideIds()).toEqual([String(kept.id)]);
  expect(swept()).toBe(before + 1);
  service.tick();
  expect(swept(), "nothing is owed any more").toBe(before + 1);
});

test("a soft truncation expires the layer's tiles from its time on, until it is undone", async () => {
  const { service, put, isStored, expired, clock } = start();
  await put("a", 0);
  const soft = { type: "truncateLayer", mode: "soft", layer: "a" } as const;
  const { id } = await service.truncate(soft, null);
  expect([isStored("a", 0), expired, service.softTimes.get("a")]).toEqual([true, [["a", clock.now()]], clock.now()]);
  expect(await service.reclaimTruncation(id, null)).toMatchObject({ ok: false });
  expect(await service.undoTruncation(id, null)).toMatchObject({ ok: true, value: { state: "undone" } });
  expect([expired.at(-1), service.softTimes.get("a")]).toEqual([["a", 0], undefined]);
});
