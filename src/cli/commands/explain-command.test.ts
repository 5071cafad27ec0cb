import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clientOf } from "../../../test/support/server/run-program.ts";
import { ended, massTruncate, seed, startServer, type TestServer } from "../../../test/support/server/server.ts";

let server: TestServer;
let guarded: TestServer;
beforeAll(async () => {
  server = await startServer();
  guarded = await startServer({ env: { NUTHATCH_ADMIN_PASSWORD: "s3cret" } });
});
afterAll(async () => {
  await server.close();
  await guarded.close();
});

const explain = clientOf(() => `${server.url}/geowebcache/`, "explain");
const TILE = "/xyz/topp:states/EPSG:4326/1/0/0.png";

test("explain follows a tile from missing over seeded and truncated, and names the job and the file", async () => {
  expect((await explain([TILE])).stdout).toMatch(/^state: +Not stored yet, or evicted\./m);
  const id = await seed(server, "topp:states", { gridSetId: "EPSG:4326", zoomStart: 0, zoomStop: 1, type: "seed" });
  await ended(server, id);
  const stored = await explain([TILE]);
  expect(stored.stdout).toMatch(/^state: +Kept: \d+ bytes, written \d+ seconds ago\.$/m);
  expect(stored.stdout).toMatch(new RegExp(`^written by: +job ${id} \\(seed, done, begun 20`, "m"));
  const key = /^in the store: +(\S+)$/m.exec(stored.stdout)?.[1] ?? "";
  expect(existsSync(join(server.dataDir, "tiles", key)), key).toBe(true);
  expect(stored.stdout).toMatch(/^in memory: +no$/m);
  await (await fetch(server.url + TILE)).arrayBuffer();
  expect((await explain([TILE])).stdout).toMatch(/^in memory: +yes$/m);
  await massTruncate(server, "topp:states");
  const gone = JSON.parse((await explain(["--json", server.url + TILE])).stdout);
  expect(gone).toMatchObject({ state: "missing", reason: "truncated", inMemory: false });
});

test("a level that the layer does not have is a failure", async () => {
  const { code, stdout } = await explain(["/xyz/topp:states/EPSG:4326/99/0/0.png"]);
  expect([code, stdout]).toEqual([1, expect.stringContaining("99")]);
  expect((await explain([TILE])).code).toBe(0);
});

test("the password goes only to the server that it is for", async () => {
  const env = { NUTHATCH_PASSWORD: "s3cret" };
  expect((await explain([TILE], { ...env, NUTHATCH_URL: guarded.url })).code).toBe(0);
  expect((await explain([guarded.url + TILE], { ...env, NUTHATCH_URL: guarded.url })).code).toBe(0);
  const elsewhere = await explain([guarded.url + TILE], env);
  expect([elsewhere.code, elsewhere.stderr.includes("401 An explanation needs")]).toEqual([1, true]);
  expect((await explain([])).code).toBe(2);
});
