import { readdirSync, readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { startServer, type TestServer } from "../../support/server/server.ts";
import { until } from "../../support/until.ts";
import { startUpstream } from "../../support/upstream/upstream.ts";

/** The HTTP workers of a server. */
const workersOf = (server: TestServer): number[] =>
  readdirSync("/proc").flatMap((name) => {
    try {
      const parent = /\) \S (\d+)/.exec(readFileSync(`/proc/${name}/stat`, "utf8"))?.[1];
      const isWorker = readFileSync(`/proc/${name}/cmdline`, "utf8").includes("http-worker-process");
      return Number(parent) === server.pid && isWorker ? [Number(name)] : [];
    } catch {
      // No process, or one that has ended.
      return [];
    }
  });

test("a kill between the removal of a layer and the truncation of its tiles leaves none that a new layer of the name serves", async () => {
  const upstream = await startUpstream();
  onTestFinished(() => upstream.close());
  let server = await startServer({ configuration: "server: { workers: 2 }\nlayers: []\n" });
  onTestFinished(() => server.close());
  const layer = `<wmsLayer><name>one</name><wmsUrl><string>${upstream.url}</string></wmsUrl></wmsLayer>`;
  const put = () =>
    fetch(`${server.url}/rest/layers/one`, { method: "PUT", headers: { "Content-Type": "text/xml" }, body: layer });
  const tile = async () => {
    const answer = await fetch(`${server.url}/xyz/one/EPSG:900913/1/1/1.png`);
    await answer.arrayBuffer();
    return answer.headers.get("geowebcache-cache-result");
  };
  expect((await put()).status).toBe(200);
  expect(await tile()).toBe("MISS");

  // The change waits for the HTTP worker that is stopped, when the removal is stored and the tiles are still there.
  const [stopped = 0] = workersOf(server);
  process.kill(stopped, "SIGSTOP");
  onTestFinished(() => {
    process.kill(stopped, "SIGKILL");
  });
  const quickly = { signal: AbortSignal.timeout(8_000) };
  const held = [1, 2, 3, 4].map(() =>
    fetch(`${server.url}/rest/layers/one`, { method: "DELETE", ...quickly }).catch(() => undefined),
  );
  await until("the other HTTP worker does not have the layer", async () => {
    const signal = AbortSignal.timeout(2_000);
    const names = await fetch(`${server.url}/rest/layers.json`, { signal }).then(
      (answer) => answer.text(),
      () => undefined,
    );
    return names === "[]" ? true : undefined;
  });
  await server.kill("SIGKILL");
  await Promise.all(held);
  server = await server.restart();
  expect(await (await fetch(`${server.url}/rest/layers.json`)).text()).toBe("[]");
  expect((await put()).status).toBe(200);
  expect(await tile()).toBe("MISS");
});
