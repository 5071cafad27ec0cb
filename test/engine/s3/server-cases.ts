import { isDeepStrictEqual } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { thisMachine } from "../../../src/lib/this-machine.ts";
import { S3Client } from "../../../src/store/s3/s3-client.ts";
import { truncations, undo } from "../../support/jobs/truncations.ts";
import { startTcpProxy } from "../../support/network/tcp-proxy.ts";
import { startS3Proxy } from "../../support/s3/proxy.ts";
import type { S3Server } from "../../support/s3/server.ts";
import { runProgram } from "../../support/server/run-program.ts";
import { closedAfterEach } from "../../support/server/running.ts";
import {
  ended,
  job,
  massTruncate,
  rendered,
  seed,
  startServer,
  type TestServer,
  usage,
} from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { until } from "../../support/until.ts";
import { renderNoise, startUpstream } from "../../support/upstream/upstream.ts";

const running = closedAfterEach();
const ACCOUNT = `accessKeyId: "\${S3_KEY}", secretAccessKey: "\${S3_SECRET}"`;
const KEYS = { S3_KEY: "nuthatch", S3_SECRET: "nuthatch-secret" };

/** The readiness checks the bucket every few seconds. */
const isLook = (path: string): boolean => path.includes("max-keys=1&") && /prefix=[a-z]*%2F$/.test(path);

const storeOf = (s3: Pick<S3Server, "endpoint">, prefix: string, more = ""): string =>
  `stores: [{ id: main, type: s3, endpoint: "${s3.endpoint}", bucket: tiles, prefix: ${prefix}, pathStyle: true, ${ACCOUNT}${more} }]\n`;

async function read(at: TestServer, z: number, x: number, y: number): Promise<string> {
  const response = await fetch(`${at.url}/xyz/a/${z}/${x}/${y}.png`);
  await response.arrayBuffer();
  return `${response.status} ${response.headers.get("geowebcache-cache-result")}`;
}

export function serverCases(started: () => S3Server): void {
  const tilesIn = async (prefix: string): Promise<{ tiles: number; bytes: number }> => {
    await using client = new S3Client(started().options(prefix), thisMachine);
    const sum = { tiles: 0, bytes: 0 };
    for await (const page of client.list({ prefix: "" }))
      for (const { key, bytes } of page.objects) {
        if (key.startsWith("_nuthatch/")) continue;
        sum.tiles++;
        sum.bytes += bytes;
      }
    return sum;
  };

  test("hits, seeds, truncates, undoes and counts exactly, also after kill -9, and shows no key", async () => {
    running.upstream = await startUpstream();
    running.upstream.behaviour = renderNoise(58, 64);
    let server = await startServer({
      configuration: smallTiles(
        running.upstream.url,
        [{ name: "a" }],
        `${storeOf(started(), "one")}diskQuota: { count: content }\n`,
      ),
      env: KEYS,
    });
    running.server = server;
    expect(await read(server, 4, 1, 1)).toBe("200 MISS");
    expect(await read(server, 4, 1, 1)).toBe("200 HIT");
    const id = await seed(server, "a", { zoomStart: 0, zoomStop: 3, threadCount: 2 });
    await ended(server, id);
    expect((await job(server, id)).outcome).toBe("done");
    const whole = await tilesIn("one");
    expect(whole.tiles).toBeGreaterThan(84);
    const counted = async () => {
      const { tiles, bytes } = (await usage(server)).total;
      return { tiles: Number(tiles), bytes: Number(bytes) };
    };
    await until("every tile is counted", async () => isDeepStrictEqual(await counted(), whole) || undefined);

    server = await server.restart();
    running.server = server;
    expect(await read(server, 3, 3, 3)).toBe("200 HIT");
    const truncated = await massTruncate(server, "a");
    expect(truncated.status).toBe(200);
    expect(await read(server, 3, 3, 3)).toBe("200 MISS");
    const [first] = await truncations(server);
    expect((await undo(server, first?.id ?? 0)).status).toBe(200);
    expect(await counted()).toEqual(whole);
    expect(await read(server, 3, 6, 6)).toBe("200 HIT");
    await massTruncate(server, "a");
    expect(await read(server, 3, 3, 3)).toBe("200 MISS");
    await rendered(server);
    const [second] = await truncations(server);
    const reclaimed = await fetch(`${server.url}/api/v1/truncations/${second?.id}`, { method: "DELETE" });
    expect(reclaimed.status).toBe(200);
    await until("what a truncation has left is swept and counted", async () => {
      const left = await tilesIn("one");
      return left.tiles < whole.tiles && isDeepStrictEqual(await counted(), left) ? true : undefined;
    });
    server = await server.restart();
    running.server = server;
    expect(await read(server, 3, 3, 3)).toBe("200 HIT");
    expect(await read(server, 3, 6, 6)).toBe("200 MISS");
    expect(server.log()).not.toMatch(/nuthatch-secret|"level":"error"|unhandled/i);
    const shown = await runProgram(["config", "print"], {
      env: { ...KEYS, NUTHATCH_CONFIG: `${server.dataDir}/nuthatch.yaml` },
    });
    expect(shown.stdout).toContain("***");
    expect(shown.stdout + shown.stderr).not.toContain("nuthatch-secret");
  });

  test("a truncation asks the service as often for many tiles as for one, puts one object, and is over at once", async () => {
    running.upstream = await startUpstream();
    running.upstream.behaviour = renderNoise(58, 64);
    await using proxy = await startS3Proxy(started().endpoint);
    const server = await startServer({
      configuration: smallTiles(running.upstream.url, [{ name: "a" }], storeOf(proxy, "shape")),
      env: KEYS,
    });
    running.server = server;
    const asked: string[][] = [];
    // The third begins where the two before have left tiles for their undo.
    for (const zoomStop of [0, 0, 4]) {
      await ended(server, await seed(server, "a", { zoomStart: 0, zoomStop, threadCount: 2 }));
      await rendered(server);
      const from = proxy.requests.length;
      expect((await massTruncate(server, "a")).status).toBe(200);
      asked.push(proxy.requests.slice(from).flatMap(({ method, path }) => (isLook(path) ? [] : [method])));
      expect(await read(server, 0, 0, 0)).toBe("200 MISS");
      await rendered(server);
    }
    const [, second = [], third = []] = asked;
    for (const methods of asked) expect(methods.filter((method) => method !== "GET")).toEqual(["PUT"]);
    expect(third.length).toBeLessThanOrEqual(second.length);
    expect(third.length).toBeLessThanOrEqual(8);
  });

  test("refuses tiles that only the bucket has while the bucket is away, says so, and recovers by itself", async () => {
    running.upstream = await startUpstream();
    running.upstream.behaviour = renderNoise(58, 64);
    const proxy = await startTcpProxy(Number(new URL(started().endpoint).port));
    onTestFinished(() => proxy.close());
    const throughProxy = { ...started(), endpoint: `http://127.0.0.1:${proxy.port}` };
    const store = storeOf(throughProxy, "away", ", timeoutSeconds: 1");
    const server = await startServer({
      configuration: smallTiles(running.upstream.url, [{ name: "a" }], store),
      env: KEYS,
    });
    running.server = server;
    expect(await read(server, 4, 1, 1)).toBe("200 MISS");
    expect(await read(server, 4, 9, 9)).toBe("200 MISS");
    await rendered(server);
    proxy.set("refuse");
    expect(await read(server, 4, 1, 1), "in memory").toBe("200 HIT");
    const refused = await fetch(`${server.url}/xyz/a/4/2/2.png`);
    expect([refused.status, refused.headers.get("retry-after"), refused.headers.get("cache-control")]).toEqual([
      503,
      "5",
      "no-store",
    ]);
    const readyz = async (): Promise<string> => {
      const answer = await fetch(`${server.url}/readyz`);
      return `${answer.status} ${await answer.text()}`;
    };
    await until("readiness tells it", async () => (/^503 .*store main/s.test(await readyz()) ? true : undefined));
    proxy.set("pass");
    await until("tiles are read again", async () => ((await read(server, 4, 2, 2)) === "200 HIT" ? true : undefined));
    await until("it is ready again", async () => ((await readyz()).startsWith("200") ? true : undefined));
  });

  test("does not start with wrong keys, and says so", async () => {
    const configuration = storeOf(started(), "x").replace(/secretAccessKey: "[^"]*"/, "secretAccessKey: wrong");
    const error = await startServer({ configuration, env: KEYS }).then(
      () => undefined,
      (reason: unknown) => String(reason),
    );
    expect(error).toContain("ended with 78");
    expect(error).toContain("store main: the bucket cannot be listed: SignatureDoesNotMatch");
  });
}
