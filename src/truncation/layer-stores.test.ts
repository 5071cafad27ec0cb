import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { idlePurges } from "../../test/support/idle-purges.ts";
import { idleRenders } from "../../test/support/jobs/idle-renders.ts";
import { inDirectory } from "../../test/support/stores/in-directory.ts";
import { unconditionally } from "../../test/support/stores/memory-store.ts";
import { asLayerName } from "../layer/tile-set.ts";
import { Adoption, adoptionTables } from "../ledger/counting/adoption.ts";
import { Ledger } from "../ledger/ledger.ts";
import { ledgerTables } from "../ledger/ledger-tables.ts";
import { machineDisk } from "../lib/file/machine-disk.ts";
import { machineClock } from "../lib/time/machine-clock.ts";
import { openDatabase } from "../state/embedded-database.ts";
import { createFileStore } from "../store/file/file-store.ts";
import { StoreRouter } from "../store/store-router.ts";
import { LayerStores, layerStoreTables } from "./layer-stores.ts";
import { truncationTables } from "./recorded-truncation.ts";
import { LedgerTruncations } from "./truncations.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nuthatch-layer-stores-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const tileSet = { layer: "a", gridSet: "g", format: "image/png", parametersId: "" };
const cell = { z: 5, minX: 0, minY: 0, maxX: 15, maxY: 15 };

type Location = "default" | "second";

/**
 * A server with two stores, and layers in them.
 * @param located the location of the layer `a`, or of each layer by its name
 * @param first the location of the default store; null: every layer names a store
 */
function start(located: Location | Readonly<Record<string, Location>>, first: Location | null = "default") {
  const locations = new Map(Object.entries(typeof located === "string" ? { a: located } : located));
  const db = openDatabase(join(directory, "state.db"), machineDisk);
  db.createTables([ledgerTables, adoptionTables, truncationTables, layerStoreTables]);
  const open = (name: string) => createFileStore(inDirectory(join(directory, name)));
  const store = new StoreRouter(["default", "second"].map((id) => ({ id, store: open(id) })));
  const configure = () => store.configure([...locations].map(([name, id]) => ({ name, store: id })));
  configure();
  const warnings: unknown[] = [];
  const log = { info: () => {}, warn: (_: string, fields: unknown) => void warnings.push(fields), error: () => {} };
  const ledger = new Ledger({ db, store, boot: "boot", clock: machineClock });
  const given: string[] = [];
  const layerStores = new LayerStores({
    db,
    ledger,
    truncations: new LedgerTruncations(db, store, ledger, idleRenders, log),
    locations: (only) => new Map([...locations].filter(([name]) => only?.has(asLayerName(name)) ?? true)),
    firstLocation: first ?? undefined,
    giveUp: (layer) => given.push(layer),
    purges: idlePurges,
    log,
  });
  const adoption = new Adoption({ db, ledger, store, log, isStateLost: false });
  return {
    ledger,
    given,
    warnings,
    rows: () => db.prepare("SELECT layer, location FROM layer_store ORDER BY layer").all(),
    async put(x: number, layer = "a") {
      const written = { ...tileSet, layer };
      const open = ledger.writers.open(written, { z: 5, minX: x, minY: 0, maxX: x, maxY: 0 });
      db.transaction(() => ledger.writeMarks());
      const outcome = await store.put({ tileSet: written, x, y: 0, z: 5 }, new Uint8Array(10), ...unconditionally);
      if (outcome.stored) ledger.writers.wrote(written, { x, y: 0, z: 5, bytes: 10, replaced: outcome.replaced });
      ledger.writers.close(open);
    },
    async move(to: Location, layer = "a", only?: readonly string[]) {
      locations.set(layer, to);
      configure();
      return await layerStores.reconfigured(only && new Set(only.map(asLayerName)));
    },
    async counted() {
      adoption.start([{ name: "a", gridSets: ["g"] }]);
      while (adoption.progress().pyramidsLeft > 0) await new Promise(setImmediate);
      return [...Array(4).keys()].filter((x) => ledger.presence(tileSet, cell).has(x, 0));
    },
    async end() {
      await adoption.close();
      ledger.flush();
      db.close();
    },
  };
}

test("a layer that gets another store begins with the tiles there, by a reload or a restart, and finds the old ones again", async () => {
  let server = start("default");
  await server.put(0);
  await server.put(1);
  expect(await server.counted()).toEqual([0, 1]);
  expect(await server.move("default"), "nothing has changed").toEqual([]);
  expect(await server.move("second")).toEqual(["a"]);
  expect([server.warnings, server.given]).toEqual([[{ layer: "a" }], ["a"]]);
  expect(await server.counted()).toEqual([]);
  expect(server.ledger.sums.total.tiles).toBe(0n);
  await server.put(2);
  expect(await server.move("second")).toEqual([]);
  await server.end();

  server = start("second");
  expect(server.warnings).toEqual([]);
  expect(await server.counted()).toEqual([2]);
  await server.end();

  server = start("default");
  expect(server.warnings).toHaveLength(1);
  expect(await server.counted()).toEqual([0, 1]);
  expect(server.ledger.sums.total.tiles).toBe(2n);
  await server.end();
});

test("in a new database whose first store is not the default one, no layer has a row of its own until it moves", async () => {
  let server = start("second", "second");
  expect(server.given, "an undo would restore tiles of another store").toEqual(["a"]);
  const others = { layer: "", location: "second" };
  expect(server.rows()).toEqual([others]);
  await server.put(0);
  expect(await server.move("second")).toEqual([]);
  expect(server.rows()).toEqual([others]);
  await server.end();

  server = start("default");
  expect([server.warnings.length, server.given]).toEqual([1, ["a"]]);
  expect(server.rows()).toEqual([others, { layer: "a", location: "default" }]);
  expect(await server.counted()).toEqual([]);
  await server.end();

  server = start("second", "second");
  expect(await server.counted()).toEqual([0]);
  await server.end();
});

test("in a new database whose first store is the default one, or where each layer names a store, no row stands for others", async () => {
  let server = start("default");
  expect([server.rows(), server.given]).toEqual([[], []]);
  await server.end();
  server = start("default", null);
  expect([server.rows(), server.given]).toEqual([[], []]);
  await server.end();
});

test("a second start without tiles discards nothing", async () => {
  let server = start("second", "second");
  await server.end();
  server = start("second", "second");
  expect([server.rows(), server.given]).toEqual([[{ layer: "", location: "second" }], []]);
  await server.end();
});

test("a database with tiles has them in the default store, whichever store is the first one now", async () => {
  let server = start("default");
  await server.put(0);
  await server.end();
  server = start("second", "second");
  expect([server.warnings, server.rows()]).toEqual([[{ layer: "a" }], [{ layer: "a", location: "second" }]]);
  await server.end();
});

test("a layer without tiles gets another store at a start without a warning", async () => {
  let server = start({ a: "default", b: "default" });
  await server.put(0, "b");
  await server.end();
  server = start({ a: "second", b: "default" });
  expect([server.warnings, server.given]).toEqual([[], ["a"]]);
  expect(server.rows()).toEqual([{ layer: "a", location: "second" }]);
  await server.end();
});

test("a change of some layers looks at these only, and warns of those that have tiles", async () => {
  const server = start({ a: "default", b: "default" });
  await server.put(0, "b");
  expect(await server.move("second", "a", ["b", "gone"]), "b stays, and gone is no layer any more").toEqual([]);
  expect(server.rows()).toEqual([]);
  expect(await server.move("second", "a", ["a", "b"])).toEqual(["a"]);
  expect([server.warnings, server.rows()]).toEqual([[], [{ layer: "a", location: "second" }]]);
  expect(await server.move("second", "b", ["a", "b"]), "a is there already").toEqual(["b"]);
  expect(server.warnings).toEqual([{ layer: "b" }]);
  await server.end();
});
