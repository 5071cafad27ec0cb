import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { inFull } from "../../test/support/full.ts";
import { ManualClock } from "../../test/support/manual-clock.ts";
import { openTestDatabase } from "../../test/support/postgres/test-database.ts";
import { purgeLife } from "../../test/support/purge-life.ts";
import { areaTag, layerTag } from "../layer/cache-tags.ts";
import { purgeTables } from "./purge-outbox.ts";
import { purgeRequest } from "./purge-request.ts";
import { isPathService, type PurgeMode, type PurgeService } from "./purge-service.ts";

const KILLS = inFull("kills between requests to emulated CDNs", 100, 4);
const publicUrls = ["https://tiles.example.org/xyz/{layer}/{z}/{x}/{y}.png"];
const keys = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret-of-nobody" };

/** A request as an emulator of a service reads it. */
interface Arrived {
  readonly ms: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly keys: readonly string[];
}

/** A service, and what it refuses. */
interface Emulated {
  readonly service: PurgeService;
  /** Returns the keys of a request, as the service's API names them. */
  readonly keysOf: (request: ReturnType<typeof purgeRequest>) => readonly string[];
  /** Returns why the service refuses the last request. Undefined if it is within the limits. */
  readonly excess: (requests: readonly Arrived[]) => string | undefined;
}

const within = (requests: readonly Arrived[], ms: number) => {
  const last = requests.at(-1)?.ms ?? 0;
  return requests.filter((one) => one.ms > last - ms);
};
const inBody = (name: string) => (request: ReturnType<typeof purgeRequest>) =>
  (JSON.parse(request.body ?? "{}") as Record<string, readonly string[]>)[name] ?? [];

const EMULATED: readonly Emulated[] = [
  {
    service: {
      id: "fastly",
      type: "fastly",
      url: "https://f.test",
      serviceId: "s",
      apiToken: "t",
      keysPerRequest: 256,
      ratePerSecond: 1,
    },
    keysOf: inBody("surrogate_keys"),
    excess: (requests) =>
      (requests.at(-1)?.keys.length ?? 0) > 256 || within(requests, 1000).length > 1 ? "429" : undefined,
  },
  {
    service: {
      id: "cloudflare",
      type: "cloudflare",
      url: "https://c.test",
      zoneId: "z",
      apiToken: "t",
      keysPerRequest: 100,
      ratePerSecond: 0.08,
    },
    keysOf: inBody("tags"),
    // Free: 5 requests a minute, 100 tags in a request.
    excess: (requests) =>
      (requests.at(-1)?.keys.length ?? 0) > 100 || within(requests, 60_000).length > 5 ? "429" : undefined,
  },
  {
    service: {
      id: "cloudfront",
      type: "cloudfront",
      url: "https://w.test",
      distributionId: "E1",
      ...keys,
      keysPerRequest: 15,
      ratePerSecond: 1,
      publicUrls,
    },
    keysOf: ({ body = "" }) => Array.from(body.matchAll(/<Path>([^<]*)<\/Path>/g), ([, path = ""]) => path),
    // 3000 paths and 15 wildcards in progress, a minute and a half each.
    excess: (requests) => {
      const paths = within(requests, 90_000).flatMap((one) => one.keys);
      return paths.length > 3000 || paths.filter((path) => path.endsWith("*")).length > 15
        ? "TooManyInvalidationsInProgress"
        : undefined;
    },
  },
  {
    service: {
      id: "nginx",
      type: "nginx",
      url: "http://n.test",
      headers: {},
      keysPerRequest: 1,
      ratePerSecond: 1000,
      publicUrls,
    },
    keysOf: ({ url }) => [url.pathname],
    excess: (requests) => (within(requests, 1000).length > 1000 ? "429" : undefined),
  },
];

test.each(EMULATED)(
  "$service.id: no request passes its published limits, and nothing is lost over kills",
  async ({ service, keysOf, excess }) => {
    const directory = mkdtempSync(join(tmpdir(), "nuthatch-purges-"));
    const db = openTestDatabase(join(directory, "state.db"));
    try {
      db.createTables([purgeTables]);
      const clock = new ManualClock(1_000_000);
      const requests: Arrived[] = [];
      const refused: string[] = [];
      let isAnswering = true;
      const answer = (to: PurgeService, names: readonly string[], mode: PurgeMode) => {
        const request = purgeRequest(to, names, mode, clock.now());
        requests.push({ ms: clock.monotonicNow(), headers: request.headers, keys: keysOf(request) });
        const reason = excess(requests);
        if (reason !== undefined) refused.push(reason);
        // A server that is killed has sent its request, and never reads the answer.
        return isAnswering ? reason : new Promise<undefined>(() => undefined);
      };
      const start = () => purgeLife(db, { answer, services: [service], layers: ["a", "b", "c"], clock });
      const layers = ["a", "b", "c"] as const;
      let changes = 0;
      const due: { readonly layer: string; readonly x: number; readonly ms: number }[] = [];
      let at = start();
      for (let kill = 0; kill <= KILLS; kill++) {
        for (let n = 0; n < 20; n++) {
          const layer = layers[changes % 3] ?? "a";
          const x = (changes++ * 37) % 4096;
          due.push({ layer, x, ms: clock.monotonicNow() });
          const rects = [{ z: 12, minX: x, minY: 5, maxX: x + (n % 7), maxY: 5 }];
          db.transaction(() => at.purges.areaChanged(layer, [{ gridSet: "EPSG:900913", rects }], "hard"));
          await at.pass(150, 50);
        }
        isAnswering = kill % 2 === 0;
        await at.pass(500 + ((kill * 1311) % 9000), 100);
        isAnswering = true;
        if (kill < KILLS) at = start();
      }
      await at.pass(1_200_000, 1000);
      expect((await at.purges.purges())[0]).toMatchObject({ pending: 0, failed: 0, lastError: null });
      expect(refused).toEqual([]);
      const isDone = ({ layer, x, ms }: (typeof due)[number]): boolean => {
        const cell = { z: 12, column: Math.floor(x / 16), row: 0 };
        const wanted = isPathService(service)
          ? [`/xyz/${layer}/12/${x}/${4095 - 5}.png`, `/xyz/${layer}/*`]
          : [areaTag(layer, "EPSG:900913", cell), layerTag(layer)];
        return requests.some((one) => one.ms >= ms && one.keys.some((key) => wanted.includes(key)));
      };
      expect(due.filter((one) => !isDone(one))).toEqual([]);
    } finally {
      db.close();
      rmSync(directory, { recursive: true });
    }
  },
  120_000,
);

test("a request to CloudFront is signed for its service, and shows no secret", () => {
  const service = EMULATED.find(({ service: { type } }) => type === "cloudfront")?.service;
  if (service === undefined) throw new Error("no service");
  const request = purgeRequest(service, ["https://tiles.example.org/xyz/a&b/*"], "soft", Date.UTC(2026, 0, 2));
  expect(String(request.url)).toBe("https://w.test/2020-05-31/distribution/E1/invalidation");
  expect(request.headers["authorization"]).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20260102\/us-east-1\/cloudfront\/aws4_request, SignedHeaders=/,
  );
  expect(request.body).toContain("<Quantity>1</Quantity><Items><Path>/xyz/a&amp;b/*</Path></Items>");
  expect(JSON.stringify(request)).not.toMatch(/of-nobody/);
});

test("nginx gets the path at its own address, with the public host", () => {
  const service = EMULATED.find(({ service: { type } }) => type === "nginx")?.service;
  if (service === undefined) throw new Error("no service");
  const { method, url, headers } = purgeRequest(service, ["https://tiles.example.org/xyz/a/1/0/0.png"], "hard", 0);
  expect([method, String(url), headers["host"]]).toEqual([
    "PURGE",
    "http://n.test/xyz/a/1/0/0.png",
    "tiles.example.org",
  ]);
});
