import { mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { closedAfterEach } from "../../support/server/running.ts";
import { ended, job, massTruncate, startServer, usage } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { expectExact } from "../../support/stores/exact.ts";
import { canMount, mountSmallDisk, type SmallDisk } from "../../support/stores/small-disk.ts";
import { until } from "../../support/until.ts";
import { startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();
let disk: SmallDisk | undefined;
afterEach(async () => {
  await running.server?.kill("SIGKILL");
  disk?.close();
  disk = undefined;
});

test.skipIf(!canMount())(
  "while the tiles lie on a read-only volume, hits go on, changes are refused with the reason, and a seed waits",
  async () => {
    disk = mountSmallDisk(100, 100_000);
    if (disk === undefined) throw new Error("the disk cannot be mounted");
    const dataDir = mkdtempSync(join(tmpdir(), "nuthatch-data-"));
    symlinkSync(disk.directory, join(dataDir, "tiles"));
    running.upstream = await startUpstream();
    const at = await startServer({ configuration: smallTiles(running.upstream.url, [{ name: "a" }]), dataDir });
    running.server = at;
    const read = async (address: string): Promise<string | null> => {
      const response = await fetch(`${at.url}/xyz/a/${address}.png`);
      expect(response.status).toBe(200);
      await response.arrayBuffer();
      return response.headers.get("geowebcache-cache-result");
    };
    const readyz = async (): Promise<string> => (await fetch(`${at.url}/readyz`)).text();
    expect([await read("3/1/1"), await read("3/1/1")]).toEqual(["MISS", "HIT"]);
    await until("the tiles of the metatile are counted", async () =>
      (await usage(at)).total.tiles === 16 ? true : undefined,
    );

    disk.remount("ro");
    expect([await read("3/1/1"), await read("4/9/9")]).toEqual(["HIT", "MISS"]);
    await until("it is not ready", async () => (/EROFS/.test(await readyz()) ? true : undefined));
    const refused = await massTruncate(at, "a");
    expect([refused.status, await refused.text()]).toEqual([503, expect.stringContaining("EROFS")]);
    expect(await read("3/1/1"), "the refused truncation changed nothing").toBe("HIT");
    const request = { layer: "a", zoomStart: 5, zoomStop: 5, gridSet: "EPSG:900913" };
    const made = await fetch(`${at.url}/api/v1/jobs`, { method: "POST", body: JSON.stringify(request) });
    const { id } = JSON.parse(await made.text());
    await until("the seed waits", async () => (/EROFS/.test((await job(at, id)).reason ?? "") ? true : undefined));
    expect((await usage(at)).total.tiles).toBe(16);

    disk.remount("rw");
    expect(await ended(at, id)).toMatchObject({ outcome: "done", reason: null, tiles: { stored: 1024, failed: 0 } });
    await until("it is ready", async () => ((await readyz()) === "ok" ? true : undefined));
    await expectExact(at);
  },
);
