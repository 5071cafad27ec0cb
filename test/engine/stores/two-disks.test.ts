import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { chanceOf } from "../../soak/chance.ts";
import { truncate } from "../../support/jobs/truncations.ts";
import { closedAfterEach } from "../../support/server/running.ts";
import { rendered, startServer, type TestServer } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { canMount, mountSmallDisk } from "../../support/stores/small-disk.ts";
import { testSeed } from "../../support/test-seed.ts";
import { until } from "../../support/until.ts";
import { renderNoise, startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();
const mountable = canMount();

async function read(at: TestServer, layer: string, x: number, y: number): Promise<string | null> {
  const response = await fetch(`${at.url}/xyz/${layer}/8/${x}/${y}.png`);
  await response.arrayBuffer();
  await rendered(at);
  return response.headers.get("geowebcache-cache-result");
}

test.skipIf(!mountable)("a full disk stops the layers whose tiles are there, and no others", async () => {
  const disk = mountSmallDisk(8, 2_000);
  if (disk === undefined) throw new Error("the disk cannot be mounted");
  onTestFinished(() => disk.close());
  const large = mkdtempSync(join(tmpdir(), "nuthatch-two-disks-"));
  onTestFinished(() => rmSync(large, { recursive: true, force: true }));
  const upstream = await startUpstream();
  running.upstream = upstream;
  upstream.behaviour = renderNoise(58, 64);
  const server = await startServer({
    configuration: smallTiles(
      upstream.url,
      [
        { name: "onSmall", extra: "store: small" },
        { name: "onLarge", extra: "store: large" },
      ],
      `stores:
  - { id: small, type: file, path: "${disk.directory}/tiles" }
  - { id: large, type: file, path: "${large}/tiles" }
eviction: { minFreeMiB: 1 }
server: { memoryTierMiB: 0 }
`,
    ),
  });
  running.server = server;
  expect(await read(server, "onSmall", 1, 1)).toBe("MISS");
  expect(await read(server, "onSmall", 1, 1)).toBe("HIT");
  const { bavail, bsize } = statfsSync(disk.directory);
  writeFileSync(join(disk.directory, "filler"), Buffer.alloc(bavail * bsize - 512 * 1024));

  const chance = chanceOf(testSeed());
  await until("nothing more is stored on the full disk", async () => {
    const x = 16 * (1 + chance.below(14));
    await read(server, "onSmall", x, 1);
    return (await read(server, "onSmall", x, 1)) === "MISS" ? true : undefined;
  });
  for (let x = 0; x < 8; x++) {
    expect(await read(server, "onLarge", 16 * x, 1)).toBe("MISS");
    expect(await read(server, "onLarge", 16 * x, 1)).toBe("HIT");
  }
  await truncate(server, { type: "truncateLayer", layer: "onLarge" });
  expect(await read(server, "onLarge", 0, 1)).toBe("MISS");
  expect(await read(server, "onLarge", 0, 1)).toBe("HIT");
  rmSync(join(disk.directory, "filler"));
  await until("tiles are stored there again", async () => {
    await read(server, "onSmall", 5, 200);
    return (await read(server, "onSmall", 5, 200)) === "HIT" ? true : undefined;
  });
});
