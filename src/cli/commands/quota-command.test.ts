import { unlinkSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clientOf } from "../../../test/support/server/run-program.ts";
import { ended, seed, startServer, type TestServer, usage } from "../../../test/support/server/server.ts";
import { scanStore } from "../../../test/support/stores/store-scan.ts";
import { until } from "../../../test/support/until.ts";

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

const quota = clientOf(() => `${server.url}/geowebcache/`, "quota");

test("quota shows the configuration, and --json the server's own answer", async () => {
  expect(await quota([])).toEqual({
    code: 0,
    stderr: "",
    stdout:
      "The disk quota is not enforced: 500 MiB, LFU.\nClean-up every 10 seconds, 2 layers at a time.\nnuthatch quota set --enable enforces it.\n",
  });
  expect(JSON.parse((await quota(["--json"])).stdout)).toHaveProperty("enabled", false);
});

test("quota set changes the quota of all layers or of one, and unset removes that of a layer", async () => {
  const none = { code: 2, stdout: "" };
  expect(await quota(["set"])).toMatchObject(none);
  expect(await quota(["set", "5GB"])).toMatchObject(none);
  expect(await quota(["set", "--enable", "--disable"])).toMatchObject(none);
  expect(await quota(["set", "--layer", "topp:states", "--policy", "LRU"])).toMatchObject(none);
  expect((await quota(["set", "1.5TiB", "--policy", "lru", "--enable"])).stdout).toMatch(
    /^The disk quota is enforced: 1\.5 TiB, LRU\.\n/,
  );
  await quota(["set", "2GiB", "--layer", "topp:states"]);
  const two = await quota(["set", "--layer", "img states", "300 MiB", "--policy", "LFU"]);
  expect(two.stdout).toMatch(/^topp:states +2 GiB +LRU\nimg states +300 MiB +LFU$/m);
  const changed = await quota(["set", "--layer", "topp:states", "--policy", "LFU", "--json"]);
  expect(JSON.parse(changed.stdout).layerQuotas[0]).toEqual({
    layer: "topp:states",
    expirationPolicyName: "LFU",
    quota: { value: "2", units: "GiB" },
  });
  expect((await quota(["unset", "--layer", "topp:states"])).stdout).not.toContain("topp:states");
  expect(await quota(["unset", "--layer", "topp:states"])).toMatchObject({ code: 1, stdout: "" });
  const unknown = await quota(["set", "1GiB", "--layer", "no:such"]);
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining("404 Unknown layer: no:such")]);
  await quota(["unset", "--layer", "img states"]);
  expect((await quota(["set", "500MiB", "--policy", "LFU", "--disable"])).stdout).toMatch(/not enforced: 500 MiB, LFU/);
});

test("a limit below the usage evicts only with --yes, and says how much", async () => {
  const own = await startServer();
  try {
    const its = clientOf(() => own.url, "quota");
    const zooms = { gridSetId: "EPSG:4326", zoomStart: 0, zoomStop: 3 };
    await ended(own, await seed(own, "topp:states", { ...zooms, type: "seed" }));
    const refused = await its(["set", "1KiB", "--enable"]);
    expect([refused.code, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).toMatch(
      /^nuthatch: this would evict about \d+ tiles, [\d.]+ [KM]iB on the disk: --yes does it\n$/,
    );
    expect((await its([])).stdout).toMatch(/not enforced: 500 MiB/);
    expect((await its(["set", "1KiB"])).code, "a quota that is not enforced evicts nothing").toBe(0);
    expect(await its(["set", "--enable"])).toMatchObject({ code: 1, stderr: expect.stringContaining("would evict") });
    expect(await its(["set", "1GiB", "--enable"])).toMatchObject({ code: 0, stderr: "" });
    const ofLayer = await its(["set", "1KiB", "--layer", "topp:states"]);
    expect(ofLayer).toMatchObject({ code: 1, stderr: expect.stringContaining("would evict") });
    expect(await its(["set", "1KiB", "--layer", "nurc:Arc_Sample"]), "of a layer without tiles").toMatchObject({
      code: 0,
    });
    expect(await its(["set", "1KiB", "--layer", "topp:states", "--yes"])).toMatchObject({ code: 0, stderr: "" });
    await until("the tiles are evicted", async () => ((await usage(own)).total.tiles === 0 ? true : undefined));
  } finally {
    await own.close();
  }
});

test("usage and verify report the tiles of a seed, and tiles removed by hand", async () => {
  const id = await seed(server, "topp:states", { gridSetId: "EPSG:4326", zoomStart: 0, zoomStop: 2, type: "seed" });
  await ended(server, id);
  const shown = await quota(["usage", "--by-tile-set"]);
  expect(shown.stdout).toMatch(/^topp:states +7 +[\d.]+ KiB/m);
  expect(shown.stdout).toMatch(/^topp:states, EPSG:4326, image\/png: 7 tiles/m);
  expect(shown.stdout).toMatch(/^ +2 +4 +[\d.]+ KiB/m);
  expect(await quota(["verify"])).toEqual({
    code: 0,
    stderr: "",
    stdout: "7 tiles: the records and the store agree.\n",
  });
  unlinkSync(scanStore(server.dataDir).files[0] ?? "");
  const bad = await quota(["verify", "--layer", "topp:states"]);
  expect(bad.code).toBe(1);
  expect(bad.stdout).toMatch(/^topp:states, EPSG:4326, image\/png: zoom \d, x 0-15, y 0-15: recorded \d tiles/);
  expect((await quota(["verify", "--repair"])).code).toBe(0);
  expect((await quota(["verify"])).code).toBe(0);
});

test("failures end with 1 and the server's words, wrong flags with 2", async () => {
  const unknown = await quota(["usage", "--layer", "nope"]);
  expect([unknown.code, unknown.stdout]).toEqual([1, ""]);
  expect(unknown.stderr).toMatch(/404 Unknown layer: nope/);
  const right = await quota([], { NUTHATCH_URL: guarded.url, NUTHATCH_PASSWORD: "s3cret" });
  expect(right.code).toBe(0);
  const wrong = await quota([], { NUTHATCH_URL: guarded.url, NUTHATCH_PASSWORD: "wrong" });
  expect([wrong.code, wrong.stderr.includes("401")]).toEqual([1, true]);
  expect(wrong.stderr).not.toContain("wrong\n");
  expect((await quota([], { NUTHATCH_URL: "nowhere" })).code).toBe(2);
  expect((await quota(["--nonsense"])).code).toBe(2);
  expect((await quota(["usage"], { NUTHATCH_URL: `${server.url}/elsewhere` })).code).toBe(1);
});
