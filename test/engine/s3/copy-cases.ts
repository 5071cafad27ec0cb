import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { truncate } from "../../support/jobs/truncations.ts";
import type { S3Server } from "../../support/s3/server.ts";
import { reload } from "../../support/server/reload.ts";
import { clientOf } from "../../support/server/run-program.ts";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, seed, startServer, usage } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { until } from "../../support/until.ts";
import { renderNoise, startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();

export function copyCases(started: () => S3Server): void {
  test("a layer moves into the bucket and back, and a truncation meanwhile leaves nothing in either store", async () => {
    const upstream = await startUpstream();
    running.upstream = upstream;
    upstream.behaviour = renderNoise(20, 64);
    const directory = mkdtempSync(join(tmpdir(), "nuthatch-s3-copy-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const configuration = (store: string): string =>
      smallTiles(
        upstream.url,
        [{ name: "a", extra: `store: ${store}` }],
        `stores:
  - { id: disk, type: file, path: "${directory}/tiles", layout: slippy }
  - { id: main, type: s3, endpoint: "${started().endpoint}", bucket: tiles, prefix: copy, pathStyle: true, accessKeyId: nuthatch, secretAccessKey: nuthatch-secret }
`,
      );
    const server = await startServer({ configuration: configuration("disk") });
    running.server = server;
    const run = clientOf(() => server.url);
    const read = async (z: number, x: number, y: number): Promise<string> => {
      const answer = await fetch(`${server.url}/xyz/a/${z}/${x}/${y}.png`);
      return createText(answer.headers.get("geowebcache-cache-result"), Buffer.from(await answer.arrayBuffer()));
    };
    const counted = (tiles: number): Promise<true> =>
      until("all tiles are counted", async () => {
        const { adoption, total } = await usage(server);
        return adoption.pyramidsLeft === 0 && Number(total.tiles) === tiles ? true : undefined;
      });
    await ended(
      server,
      await seed(server, "a", { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 3, threadCount: 2 }),
    );
    const before = await read(3, 4, 4);
    expect(before).toMatch(/^HIT/);
    const copied = await run(["store", "copy", "disk", "main"]);
    expect([copied.code, copied.stdout]).toEqual([0, expect.stringContaining("85 of 85")]);
    await reload(server, configuration("main"));
    expect(await read(3, 4, 4)).toBe(before);
    await counted(85);
    expect((await run(["store", "copy", "main", "disk"])).code).toBe(0);
    await truncate(server, { type: "truncateLayer", layer: "a" });
    await until("the copy has followed", async () =>
      / 0 of 0 /.test((await run(["store", "copies"])).stdout) ? true : undefined,
    );
    await reload(server, configuration("disk"));
    expect(await read(3, 4, 4)).toMatch(/^MISS/);
  });
}

const createText = (result: string | null, bytes: Buffer): string => `${result} ${bytes.toString("base64")}`;
