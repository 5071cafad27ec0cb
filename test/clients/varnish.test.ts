import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { closedAfterEach } from "../support/server/running.ts";
import { startServer } from "../support/server/server.ts";
import { smallTiles } from "../support/server/wms-configuration.ts";
import { until } from "../support/until.ts";
import { renderNoise, startUpstream } from "../support/upstream/upstream.ts";
import { freePort } from "./tinyproxy.ts";

const PROGRAM = "/usr/sbin/varnishd";
const hasVarnish = existsSync(PROGRAM);
const reason = hasVarnish ? "" : " (skipped: needs Debian's varnish and varnish-modules)";
if (!hasVarnish) console.warn("SKIPPED: test/clients/varnish.test.ts needs Debian's varnish and varnish-modules");

const running = closedAfterEach();
let varnish: ChildProcess | undefined;
let directory: string | undefined;
afterEach(async () => {
  if (varnish?.exitCode === null) {
    const ended = once(varnish, "exit");
    varnish.kill("SIGTERM");
    await ended;
  }
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
});

/** Runs Debian's Varnish with `examples/varnish.vcl`, its backend replaced. */
async function startVarnish(port: number, serverPort: number): Promise<void> {
  directory = mkdtempSync(join(tmpdir(), "nuthatch-varnish-"));
  const example = readFileSync(fileURLToPath(new URL("../../examples/varnish.vcl", import.meta.url)), "utf8");
  const vcl = join(directory, "site.vcl");
  expect(example).toContain('.port = "8080";');
  writeFileSync(vcl, example.replace('.port = "8080";', `.port = "${serverPort}";`));
  const args = ["-F", "-j", "none", "-a", `127.0.0.1:${port}`, "-f", vcl, "-n", directory, "-s", "malloc,32m"];
  varnish = spawn(PROGRAM, args, { stdio: "ignore" });
  await until("Varnish answers", async () =>
    fetch(`http://127.0.0.1:${port}/livez`).then(
      ({ status }) => (status === 200 ? true : undefined),
      () => undefined,
    ),
  );
}

test.skipIf(!hasVarnish)(
  `Varnish with the module xkey keeps tiles for expireCdnSeconds, and removes those that a truncation or a reseed has changed${reason}`,
  async () => {
    running.upstream = await startUpstream();
    const port = await freePort();
    const more = `server: { cacheTags: xkey }\npurge: [{ id: varnish, type: varnish, url: "http://127.0.0.1:${port}" }]\n`;
    const extra = "expireClientSeconds: 60\n    expireCdnSeconds: 2592000";
    running.server = await startServer({
      configuration: smallTiles(
        running.upstream.url,
        [
          { name: "roads", extra },
          { name: "rivers", extra },
        ],
        more,
      ),
    });
    const { server, upstream } = running;
    await startVarnish(port, server.port);
    const read = async (layer = "roads") => {
      const reply = await fetch(`http://127.0.0.1:${port}/xyz/${layer}/2/1/1.png`);
      const { status, headers } = reply;
      // X-Varnish names two requests if the answer was in the cache.
      const isHit = (headers.get("x-varnish") ?? "").includes(" ");
      return {
        status,
        isHit,
        etag: headers.get("etag"),
        shown: headers.get("xkey"),
        age: headers.get("cache-control"),
      };
    };
    const first = await read();
    expect(first).toMatchObject({ status: 200, isHit: false, shown: null, age: "max-age=60, must-revalidate" });
    await read("rivers");
    expect(await read()).toEqual({ ...first, isHit: true });

    upstream.behaviour = renderNoise(8, 64);
    const body = JSON.stringify({ layer: "roads" });
    expect((await fetch(`${server.url}/api/v1/truncations`, { method: "POST", body })).ok).toBe(true);
    const second = await until("the truncation is seen through Varnish", async () => {
      const seen = await read();
      return seen.etag === first.etag ? undefined : seen;
    });
    expect(await read("rivers")).toMatchObject({ isHit: true, etag: first.etag });

    upstream.behaviour = renderNoise(16, 64);
    const seedRequest = { name: "roads", type: "reseed", gridSetId: "EPSG:900913", zoomStart: 2, zoomStop: 2 };
    await fetch(`${server.url}/rest/seed/roads.json`, { method: "POST", body: JSON.stringify({ seedRequest }) });
    await until("the reseed is seen through Varnish", async () =>
      (await read()).etag === second.etag ? undefined : true,
    );
    expect(await read("rivers")).toMatchObject({ isHit: true, etag: first.etag });
  },
);
