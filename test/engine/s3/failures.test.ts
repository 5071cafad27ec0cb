import { afterAll, beforeAll, describe, expect, type TestContext, test } from "vitest";
import { scanBucket } from "../../support/s3/bucket-scan.ts";
import { isWrite, type S3Fault, type S3Proxy, type S3Request, startS3Proxy } from "../../support/s3/proxy.ts";
import { NO_S3, NO_VERSITYGW, type S3Server, startS3 } from "../../support/s3/server.ts";
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
import { hold } from "../../support/upstream/held-upstream.ts";
import { renderNoise, startUpstream, type Upstream } from "../../support/upstream/upstream.ts";

interface Row {
  readonly name: string;
  readonly fault: (request: S3Request) => S3Fault;
  /** The text of the readiness; undefined: the server stays ready, because it can read. */
  readonly readiness: RegExp | undefined;
  /** Why the job waits; undefined: it does not. */
  readonly waits: RegExp | undefined;
}

const failsWrites =
  (status: number, code: string) =>
  (request: S3Request): S3Fault =>
    isWrite(request) && !request.path.includes("_nuthatch/generations") ? { status, code } : "pass";

/** The failure table of a store in S3, for one server. The rows of a group run at the same time: they mostly wait. */
const GROUPS: readonly { readonly of: string; readonly rows: readonly Row[] }[] = [
  {
    of: "for reads and writes",
    rows: [
      {
        name: "away: it refuses connections",
        fault: () => "refuse",
        readiness: /store main: the bucket cannot be listed/,
        waits: /^waiting for the store: store main: /,
      },
      {
        name: "silent: it takes requests and never answers",
        fault: () => "swallow",
        readiness: /store main: the bucket cannot be listed: no answer in time|the coordinator does not answer/,
        waits: /^waiting for the store: store main: .*no answer in time/,
      },
      {
        name: "overloaded: it answers 503",
        fault: () => ({ status: 503, code: "SlowDown" }),
        readiness: /store main: the bucket cannot be listed: SlowDown/,
        waits: /^waiting for the store: store main: .*SlowDown/,
      },
      { name: "slow: it takes one second", fault: () => ({ delayMs: 1_000 }), readiness: undefined, waits: undefined },
    ],
  },
  {
    of: "for writes",
    rows: [
      {
        name: "full: 507",
        fault: failsWrites(507, "InsufficientStorage"),
        readiness: undefined,
        waits: /^waiting for room: store main: a tile cannot be written: InsufficientStorage/,
      },
      {
        name: "full: its quota is exceeded",
        fault: failsWrites(403, "QuotaExceeded"),
        readiness: undefined,
        waits: /^waiting for room: store main: a tile cannot be written: QuotaExceeded/,
      },
      {
        name: "read-only: it denies writes",
        fault: failsWrites(403, "AccessDenied"),
        readiness: undefined,
        waits: /^waiting for the store: store main: a tile cannot be written: AccessDenied/,
      },
    ],
  },
];

const SERVICE = NO_S3 === undefined ? "SeaweedFS" : "versitygw";
/** A server, and its own way to the service. */
interface Place {
  readonly at: TestServer;
  readonly upstream: Upstream;
  readonly proxy: S3Proxy;
  readonly prefix: string;
}

describe.skipIf(NO_S3 !== undefined && NO_VERSITYGW !== undefined)(`a store in S3, by ${SERVICE}, that is`, () => {
  let service: S3Server;
  let made = 0;
  beforeAll(async () => {
    service = await startS3(SERVICE);
  });
  afterAll(async () => {
    await service?.[Symbol.asyncDispose]();
  });

  async function start({ onTestFinished }: TestContext, more = "", unavailable = "render"): Promise<Place> {
    const proxy = await startS3Proxy(service.endpoint);
    onTestFinished(async () => await proxy[Symbol.asyncDispose]());
    const upstream = await startUpstream();
    onTestFinished(() => upstream.close());
    upstream.behaviour = renderNoise(30, 64);
    const prefix = `f${made++}`;
    const account = "accessKeyId: nuthatch, secretAccessKey: nuthatch-secret, timeoutSeconds: 3";
    const place = `endpoint: "${proxy.endpoint}", bucket: tiles, prefix: ${prefix}, pathStyle: true, unavailable: ${unavailable}`;
    const store = `stores: [{ id: main, type: s3, ${place}, ${account} }]\n${more}`;
    const at = await startServer({ configuration: smallTiles(upstream.url, [{ name: "a" }], store) });
    onTestFinished(() => at.close());
    return { at, upstream, proxy, prefix };
  }

  const read = async (at: TestServer, z: number, x: number, y: number): Promise<string> => {
    const response = await fetch(`${at.url}/xyz/a/${z}/${x}/${y}.png`);
    await response.arrayBuffer();
    return `${response.status} ${response.headers.get("geowebcache-cache-result")}`;
  };
  const readyz = async (at: TestServer): Promise<string> => {
    const answer = await fetch(`${at.url}/readyz`);
    return `${answer.status} ${await answer.text()}`;
  };
  const expectExactly = async (at: TestServer, prefix: string): Promise<void> => {
    await rendered(at);
    const found = await scanBucket(service.options(prefix));
    await until(
      "usage equals the bucket",
      async () => {
        const { tiles, bytes } = (await usage(at)).total;
        return Number(tiles) === found.tiles && Number(bytes) === found.bytes ? true : undefined;
      },
      20_000,
      at,
    );
  };

  describe.each(GROUPS)("$of", ({ rows }) => {
    test.concurrent.for(rows)(
      "$name: a seed waits and goes on, users have their tiles, and nothing is lost",
      async (row, context) => {
        const { at, upstream, proxy, prefix } = await start(context);
        expect(await read(at, 9, 1, 1)).toBe("200 MISS");
        expect(await read(at, 9, 41, 1)).toBe("200 MISS");
        await rendered(at);
        const held = hold(upstream);
        held.side = 30;
        const id = await seed(at, "a", { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 4, threadCount: 2 });
        const stored = async (): Promise<true | undefined> => {
          held.release(1);
          return (await job(at, id)).tiles.stored > 20 ? true : undefined;
        };
        await until("tiles", stored, undefined, at);
        proxy.set(row.fault);
        held.isOpen = true;
        held.release();
        if (row.waits !== undefined) {
          const { waits } = row;
          // On a busy machine the first write that fails may be one that got no answer in time.
          const waiting = await until(
            `the job waits: ${waits}`,
            async () => {
              const now = await job(at, id);
              return waits.test(now.reason ?? "") ? now : undefined;
            },
            60_000,
            at,
          );
          expect(waiting.state).toBe("running");
          expect(at.log()).toMatch(/a job waits/);
        }
        if (row.readiness !== undefined) {
          const { readiness } = row;
          await until(
            "readiness tells it",
            async () => (readiness.test(await readyz(at)) ? true : undefined),
            20_000,
            at,
          );
          expect(at.log()).toMatch(/the server is not ready/);
        } else expect(await readyz(at)).toMatch(/^200/);
        // From memory, independent of the store.
        expect(await read(at, 9, 1, 1)).toBe("200 HIT");
        const { notStored } = (await usage(at)).enforcement;
        expect(await read(at, 9, 100, 100)).toBe("200 MISS");
        if (row.waits !== undefined) {
          await until(
            "the tile of the user is counted as not stored",
            async () => ((await usage(at)).enforcement.notStored > notStored ? true : undefined),
            30_000,
            at,
          );
          const isReported = (line: string) =>
            line.includes("rendered tiles cannot be stored") && line.includes("store main: ");
          const look = async () => at.log().split("\n").some(isReported) || undefined;
          await until("the log tells it", look, 20_000, at);
        }
        proxy.set(() => "pass");
        await until("it is ready", async () => ((await readyz(at)).startsWith("200") ? true : undefined), 30_000, at);
        const done = await ended(at, id);
        expect(done).toMatchObject({ outcome: "done", reason: null, tiles: { failed: 0 } });
        expect(done.tiles.stored + done.tiles.skipped).toBe(done.tiles.total);
        expect(await read(at, 9, 41, 1)).toBe("200 HIT");
        await expectExactly(at, prefix);
        expect(at.log()).not.toMatch(/nuthatch-secret|unhandled/i);
      },
    );
  });

  test("silent, with two HTTP workers: all readers and readiness agree that it is away, and that it is back", async (context) => {
    const { at, proxy, prefix } = await start(context, "server: { memoryTierMiB: 0, workers: 2 }\n", "refuse");
    expect(await read(at, 9, 1, 1)).toBe("200 MISS");
    await rendered(at);
    proxy.set(() => "swallow");
    // One reader notices the outage. Each connection belongs to a different worker.
    const close = { headers: { Connection: "close" } };
    const statusOf = async (path: string): Promise<number> => (await fetch(`${at.url}${path}`, close)).status;
    const statuses = async (): Promise<readonly number[]> => {
      const all: number[] = [];
      for (let n = 0; n < 4; n++) all.push(await statusOf("/xyz/a/9/1/1.png"));
      return all;
    };
    const tilesAsked = (): number => proxy.requests.filter(({ path }) => path.includes(`/${prefix}/a/`)).length;
    const found = statusOf("/xyz/a/9/1/1.png");
    await until("readiness tells it", async () => ((await statusOf("/readyz")) === 503 ? true : undefined), 20_000, at);
    await until("all readers know it, so that none of them asks the store and waits", async () => {
      const asked = tilesAsked();
      const told = await statuses();
      return told.every((status) => status === 503) && tilesAsked() === asked ? true : undefined;
    });
    expect(await statusOf("/readyz")).toBe(503);
    proxy.set(() => "pass");
    await until("it is ready", async () => ((await statusOf("/readyz")) === 200 ? true : undefined), 20_000, at);
    await until("all readers know it", async () =>
      (await statuses()).every((status) => status === 200) ? true : undefined,
    );
    expect([200, 503]).toContain(await found);
  });

  test("away: a truncation is refused and nothing is truncated; one that was recorded is carried out by itself", async (context) => {
    const { at, proxy, prefix } = await start(context);
    await ended(at, await seed(at, "a", { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 2, threadCount: 2 }));
    await expectExactly(at, prefix);
    proxy.set(() => "refuse");
    const away = await massTruncate(at, "a");
    expect([away.status, away.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await away.text()).toContain("store main");
    proxy.set(() => "pass");
    await until("it is ready", async () => ((await readyz(at)).startsWith("200") ? true : undefined), 30_000, at);
    expect((await usage(at)).total.tiles).toBe(21);
    // The names cannot be written, or the answer is lost: the truncation is in the records already.
    for (const fault of [{ status: 507, code: "InsufficientStorage" } as const, "lose" as const]) {
      await ended(at, await seed(at, "a", { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 2, threadCount: 2 }));
      proxy.set((request) => (isWrite(request) && request.path.includes("_nuthatch/generations") ? fault : "pass"));
      // For some seconds after a failure the coordinator sends no request.
      await until(
        "it is recorded",
        async () => {
          const refused = await massTruncate(at, "a");
          expect(refused.status).toBe(503);
          const text = await refused.text();
          return (
            text.includes("the truncation is recorded, and is carried out when the store can be used") || undefined
          );
        },
        20_000,
        at,
      );
      proxy.set(() => "pass");
      await until(
        "it is carried out",
        async () => ((await usage(at)).total.tiles === 0 ? true : undefined),
        30_000,
        at,
      );
      expect(await read(at, 2, 1, 1)).toBe("200 MISS");
      await expectExactly(at, prefix);
    }
  });
});
