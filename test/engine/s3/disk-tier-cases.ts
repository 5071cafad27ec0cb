import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startTcpProxy } from "../../support/network/tcp-proxy.ts";
import type { S3Server } from "../../support/s3/server.ts";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, massTruncate, rendered, seed, startServer, type TestServer } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { until } from "../../support/until.ts";
import { renderNoise, startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();

async function metric(server: TestServer, name: string): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const line = text.split("\n").find((one) => one.startsWith(`nuthatch_${name}{`));
  return Number(line?.split(" ")[1] ?? Number.NaN);
}

async function read(at: TestServer, z: number, x: number, y: number): Promise<{ result: string; bytes: Buffer }> {
  const response = await fetch(`${at.url}/xyz/a/${z}/${x}/${y}.png`);
  const bytes = Buffer.from(await response.arrayBuffer());
  return { result: `${response.status} ${response.headers.get("geowebcache-cache-result")}`, bytes };
}

export function diskTierCases(started: () => S3Server): void {
  test.each([1, 2])(
    "tiles on the local disk are served while the bucket is away, and none that was truncated or replaced, by %i processes",
    async (workers) => {
      const upstream = await startUpstream();
      running.upstream = upstream;
      upstream.behaviour = renderNoise(58, 64);
      const proxy = await startTcpProxy(Number(new URL(started().endpoint).port));
      onTestFinished(() => proxy.close());
      const directory = mkdtempSync(join(tmpdir(), "nuthatch-disk-tier-"));
      onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
      const tier = join(directory, "tier");
      const configuration = smallTiles(
        upstream.url,
        [{ name: "a" }],
        `server: { memoryTierMiB: 0, workers: ${workers} }
stores:
  - id: main
    type: s3
    endpoint: "http://127.0.0.1:${proxy.port}"
    bucket: tiles
    prefix: tier-${workers}
    pathStyle: true
    timeoutSeconds: 1
    accessKeyId: nuthatch
    secretAccessKey: nuthatch-secret
    diskTier: { path: "${tier}", sizeMiB: 1 }
`,
      );
      const server = await startServer({ configuration });
      running.server = server;
      // The first read after the render fills the tier, in the process that answers it.
      await read(server, 4, 1, 1);
      await rendered(server);
      const fill = (): Promise<true> =>
        until("each process has the tile on its disk", async () => {
          const before = await metric(server, "disk_tier_hits_total");
          for (let n = 0; n < 20; n++) await read(server, 4, 1, 1);
          return (await metric(server, "disk_tier_hits_total")) - before === 20 ? true : undefined;
        });
      await fill();
      const old = await read(server, 4, 1, 1);
      proxy.set("refuse");
      for (let n = 0; n < 10; n++) expect(await read(server, 4, 1, 1)).toEqual({ result: "200 HIT", bytes: old.bytes });
      expect((await read(server, 4, 2, 2)).result).toBe("503 null");
      proxy.set("pass");

      upstream.behaviour = renderNoise(40, 64);
      const reseeded = await seed(server, "a", { type: "reseed", zoomStart: 4, zoomStop: 4, threadCount: 2 });
      expect((await ended(server, reseeded)).outcome).toBe("done");
      const replaced = await read(server, 4, 1, 1);
      expect(replaced.bytes.equals(old.bytes)).toBe(false);
      await fill();
      expect((await read(server, 4, 1, 1)).bytes.equals(replaced.bytes)).toBe(true);

      expect((await massTruncate(server, "a")).status).toBe(200);
      expect((await read(server, 4, 1, 1)).result).toBe("200 MISS");
      await rendered(server);
      await fill();
      rmSync(tier, { recursive: true });
      writeFileSync(tier, "a file in the place of the directory");
      for (let n = 0; n < 10; n++) expect((await read(server, 4, 1, 1)).result).toBe("200 HIT");
      expect(await metric(server, "disk_tier_failures_total")).toBeGreaterThan(0);
      expect(server.log()).toContain("the disk tier of a store has failed");
    },
  );
}
