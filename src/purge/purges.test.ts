import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openTestDatabase } from "../../test/support/postgres/test-database.ts";
import { purgeLife, edgeService as service, settled } from "../../test/support/purge-life.ts";
import { areaTag, cellTag, layerTag } from "../layer/cache-tags.ts";
import type { Database } from "../state/database.ts";
import { purgeTables } from "./purge-outbox.ts";
import type { PurgeService } from "./purge-service.ts";

let directory: string;
let db: Database;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "nuthatch-purges-"));
  db = openTestDatabase(join(directory, "state.db"));
  db.createTables([purgeTables]);
});
afterEach(() => {
  db.close();
  rmSync(directory, { recursive: true });
});

const life = (answer?: () => string | undefined, services?: readonly PurgeService[], layers?: readonly string[]) =>
  purgeLife(db, { answer, services, layers });
const rect = (z: number, minX: number, minY: number, maxX: number, maxY: number) => ({ z, minX, minY, maxX, maxY });
const area = (...rects: readonly ReturnType<typeof rect>[]) => [{ gridSet: "EPSG:4326", rects }];

test("a change is sent after its commit, and none that was rolled back", async () => {
  const at = life();
  await at.pass(200);
  expect(() =>
    db.transaction(() => {
      at.purges.layerChanged("b", "hard");
      throw new Error("the disk is full");
    }),
  ).toThrow("the disk is full");
  at.changed("a");
  expect(await at.purges.purges()).toEqual([
    { id: "edge", pending: 1, lagSeconds: 0, lastError: null, sent: 0, failed: 0 },
  ]);
  at.purges.tick();
  await settled();
  expect(at.sent.map(({ keys }) => keys)).toEqual([[layerTag("a")]]);
  expect(await at.purges.purges()).toEqual([
    { id: "edge", pending: 0, lagSeconds: 0, lastError: null, sent: 1, failed: 0 },
  ]);
});

test("an area is purged by the tags of its cells, and by the tag of its layer beyond the limits", async () => {
  const at = life();
  db.transaction(() => at.purges.areaChanged("a", area(rect(5, 15, 0, 16, 15), rect(6, 31, 3, 31, 3)), "hard"));
  await at.pass(1000);
  const cell = (z: number, column: number, row: number) => areaTag("a", "EPSG:4326", { z, column, row });
  expect(at.sent.flatMap(({ keys }) => keys)).toEqual([cell(5, 0, 0), cell(5, 1, 0), cell(6, 1, 0)]);
  // Ten requests of three tags in five seconds are 150 tags.
  db.transaction(() => at.purges.areaChanged("a", area(rect(9, 0, 0, 16 * 151 - 1, 0)), "hard"));
  await at.pass(1000);
  expect(at.sent.at(-1)?.keys).toEqual([layerTag("a")]);
});

test("tags that wait are collapsed to the tag of their layer beyond the limits; all changes are counted", async () => {
  let failure: string | undefined = "status 503";
  const at = life(() => failure);
  for (let n = 0; n < 100; n++)
    db.transaction(() => at.purges.areaChanged("a", area(rect(9, n * 32, 0, n * 32 + 16, 0)), "hard"));
  at.changed("b", "soft");
  expect((await at.purges.purges())[0]).toMatchObject({ pending: 101 });
  failure = undefined;
  await at.pass(10_000);
  const keys = at.sent.flatMap((request) => request.keys);
  expect(keys).toContain(layerTag("a"));
  expect(keys.length).toBeLessThan(110);
  expect(at.sent.filter(({ mode }) => mode === "soft").map((request) => request.keys)).toEqual([[layerTag("b")]]);
  expect((await at.purges.purges())[0]).toMatchObject({ pending: 0, sent: 101 });
});

test("no second has more requests than the rate, and no request more tags than the limit", async () => {
  const at = life();
  for (let n = 0; n < 100; n++)
    db.transaction(() => at.purges.areaChanged("a", area(rect(9, n * 16, 0, n * 16, 0)), "hard"));
  await at.pass(8000, 10);
  expect(at.sent.flatMap(({ keys }) => keys)).toHaveLength(100);
  expect(Math.max(...at.sent.map(({ keys }) => keys.length))).toBe(3);
  for (const { ms } of at.sent)
    expect(at.sent.filter((other) => other.ms >= ms && other.ms - ms <= 1000).length).toBeLessThanOrEqual(10);
});

test("a failed purge is repeated with growing pauses, in order, for a day; the log shows no address", async () => {
  const at = life(() => "status 500");
  at.changed("a");
  at.changed("b", "soft");
  await at.pass(70_000, 50);
  const pauses = at.sent.slice(1).map(({ ms }, i) => ms - (at.sent[i]?.ms ?? 0));
  for (const [i, expected] of [1000, 2000, 4000, 8000, 16_000].entries())
    expect(Math.abs((pauses[i] ?? 0) - expected)).toBeLessThanOrEqual(100);
  expect(new Set(at.sent.map(({ keys }) => keys.join()))).toEqual(new Set([layerTag("a")]));
  const [view] = await at.purges.purges();
  expect(view).toMatchObject({ pending: 2, lastError: "status 500", sent: 0, failed: 0 });
  expect(view?.lagSeconds).toBeGreaterThan(69);
  await at.pass(86_400_000, 600_000);
  expect((await at.purges.purges())[0]).toMatchObject({ pending: 0, lagSeconds: 0, failed: 2 });
  expect(at.logged).toHaveLength(2);
  expect(at.logged.join()).not.toMatch(/token/);
});

test("a restart loses no purge and no count, and sends a service that is gone nothing", async () => {
  const first = life(() => "ECONNREFUSED", [service(), service({ id: "gone" })]);
  first.changed("a");
  await first.pass(500);
  await first.purges.close();
  const second = life();
  second.purges.reconfigured();
  await second.pass(500);
  expect(second.sent.map(({ to, keys }) => [to, keys])).toEqual([["edge", [layerTag("a")]]]);
  expect((await second.purges.purges())[0]).toMatchObject({ pending: 0, sent: 1 });
  await second.purges.close();
});

test("a layer that is gone since the last configuration or server is purged, and no other", async () => {
  const first = life();
  first.purges.reconfigured();
  await first.pass(500);
  expect(first.sent).toEqual([]);
  await first.purges.close();
  const second = life(() => undefined, [service()], ["b", "c"]);
  second.purges.reconfigured();
  second.purges.reconfigured();
  await second.pass(500);
  expect(second.sent.map(({ keys }) => keys)).toEqual([[layerTag("a")]]);
});

test("a purge waits until its change has been carried out, and other layers do not wait for it", async () => {
  const at = life();
  let end = (): void => undefined;
  const change = at.purges.during("a", async () => {
    at.changed("a");
    await new Promise<void>((resolve) => (end = resolve));
  });
  at.changed("b");
  await at.pass(500);
  expect(at.sent.map(({ keys }) => keys)).toEqual([[layerTag("b")]]);
  end();
  await change;
  await at.pass(500);
  expect(at.sent.map(({ keys }) => keys)).toEqual([[layerTag("b")], [layerTag("a")]]);
});

test("tiles that were replaced are purged by the cells of their tile sets, once each", async () => {
  const at = life();
  const tileSet = { layer: "a", gridSet: "EPSG:4326", format: "image/png", parametersId: "" };
  const cell = { z: 3, column: 1, row: 0 };
  for (let n = 0; n < 5; n++) at.purges.replaced(tileSet, rect(3, 16 + n, n, 16 + n, n));
  expect(() =>
    db.transaction(() => {
      at.purges.saveReplaced();
      throw new Error("the disk is full");
    }),
  ).toThrow("the disk is full");
  await at.pass(500);
  expect(at.sent.map(({ keys }) => keys)).toEqual([[cellTag(tileSet, cell)]]);
});
