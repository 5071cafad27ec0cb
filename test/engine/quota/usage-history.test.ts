import { expect, onTestFinished, test } from "vitest";
import type { Documents } from "../../../src/http/api/documents/documents.ts";
import { ended, seed, startServer, type TestServer, usage } from "../../support/server/server.ts";
import { changeState } from "../../support/server/state-database.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { startUpstream } from "../../support/upstream/upstream.ts";

const HOUR = 3_600_000;

test("the history has the kept samples and ends with the present usage", async () => {
  const upstream = await startUpstream();
  const configuration = smallTiles(upstream.url, [{ name: "a" }, { name: "b" }]);
  let server: TestServer = await startServer({ configuration });
  onTestFinished(async () => {
    await server.close();
    await upstream.close();
  });
  await ended(server, await seed(server, "a", { gridSetId: "EPSG:900913", zoomStop: 2 }));
  await server.kill("SIGTERM");
  const now = Date.now();
  const begin = Math.floor(now / HOUR) * HOUR - 3 * HOUR;
  // Large enough to need 64 bits. The layers were not sampled with the first one.
  const rows = [0, 1, 2].map((n) => {
    const at = begin + n * HOUR;
    return `(${at}, 9007199254740993, 8192, ${n}, ${n === 0 ? "NULL" : 1})`;
  });
  changeState(server.dataDir, "DELETE FROM usage_sample");
  changeState(server.dataDir, "DELETE FROM usage_layer_sample");
  changeState(
    server.dataDir,
    `INSERT INTO usage_sample (at_ms, bytes, allocated, tiles, layers) VALUES ${rows.join(", ")}`,
  );
  changeState(server.dataDir, `INSERT INTO usage_layer_sample VALUES (${begin + HOUR}, 'a', 3, 400, 4096)`);
  server = await server.restart();
  const get = async (query: string): Promise<string> =>
    (await fetch(`${server.url}/api/v1/usage/history${query}`)).text();
  const history = async (query: string): Promise<Documents["UsageHistory"]> => JSON.parse(await get(query));
  const iso = (ms: number) => new Date(ms).toISOString();

  const text = await get("");
  expect(text).toContain(
    `"series":[{"at":"${iso(begin)}","tiles":0,"bytes":9007199254740993,"bytesOnDisk":8192},{"at":"${iso(begin + HOUR)}","tiles":1,"bytes":9007199254740993,"bytesOnDisk":8192},{"at":"${iso(begin + 2 * HOUR)}","tiles":2,`,
  );
  const { total, bytesOnDisk } = await usage(server);
  const present = { tiles: total.tiles, bytes: total.bytes, bytesOnDisk };
  expect(total.tiles).toBe(21);
  expect((await history("")).series.at(-1)).toMatchObject(present);
  const ofA = await history("?layer=a&step=PT10M");
  expect(ofA).toMatchObject({
    layer: "a",
    step: "PT10M",
    series: [
      { at: iso(begin + HOUR), tiles: 3, bytes: 400, bytesOnDisk: 4096 },
      { at: iso(begin + 2 * HOUR), tiles: 0, bytes: 0, bytesOnDisk: 0 },
      present,
    ],
  });
  expect((await history(`?since=${iso(begin + 2 * HOUR)}`)).series).toHaveLength(2);
  expect((await history("?layer=b&since=PT1M")).series).toMatchObject([{ tiles: 0, bytes: 0, bytesOnDisk: 0 }]);
  for (const [query, status, words] of [
    ["?layer=c", 404, "Unknown layer: c"],
    ["?step=PT5M", 400, "step: expected one of PT10M, PT1H, PT6H, P1D"],
    ["?since=yesterday", 400, "since: expected"],
    ["?form=PT1H", 400, "form: unknown field of the query"],
  ] as const) {
    const answer = await fetch(`${server.url}/api/v1/usage/history${query}`);
    const problem = (await answer.json()) as { readonly detail: string };
    expect([answer.status, problem.detail]).toEqual([status, expect.stringContaining(words)]);
  }
});
