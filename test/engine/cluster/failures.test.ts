import { cpSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { nodesOf } from "../../support/cluster/cluster.ts";
import {
  linkTo,
  ofLead,
  ofNode,
  type ProxiedCluster,
  startProxiedCluster,
} from "../../support/cluster/proxied-cluster.ts";
import { descendantsOf } from "../../support/network/cut-proxy.ts";
import { giveToPostgres, hasPostgres } from "../../support/postgres/postgres.ts";
import { scanBucket } from "../../support/s3/bucket-scan.ts";
import { NO_S3, NO_VERSITYGW } from "../../support/s3/server.ts";
import { childrenOf, send } from "../../support/server/processes.ts";
import { ended, job, massTruncate, rendered, seed, type TestServer, usage } from "../../support/server/server.ts";
import { isReady, until } from "../../support/until.ts";
import { type DatedMap, startDatedMap, versionOf } from "../../support/upstream/dated-map.ts";

/*
 * The rows of "What happens when something fails" in docs/how-to/several-nodes.md that lead.test.ts does not
 * have: by cuts, signals and restarts, with short leases.
 */

const KEYS = "nodeLeaseSeconds: 2, leadLeaseSeconds: 6, putSeconds: 5";
const TILE = "/xyz/a/3/2/5.png";
const SEED = { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 4, threadCount: 2 };
const CLOCK = fileURLToPath(new URL("../../support/server/shifted-clock.cjs", import.meta.url));

interface Read {
  readonly status: number;
  /** The body of an answer without a tile. */
  readonly fault: string;
  readonly result: string;
  readonly cacheStatus: string;
  readonly version: number;
}

async function read({ url }: TestServer, path = TILE): Promise<Read> {
  const { status, headers, ...response } = await answered(url + path);
  const body = new Uint8Array(response.body);
  return {
    status,
    fault: status === 200 ? "" : new TextDecoder().decode(body),
    result: headers.get("geowebcache-cache-result") ?? "",
    cacheStatus: headers.get("cache-status") ?? "",
    version: status === 200 ? await versionOf(body) : 0,
  };
}

/** Truncates, and repeats the request while the node has no lease: on a busy machine a lease of two seconds may end. */
const truncated = (node: TestServer): Promise<true> =>
  until(
    "a truncation is answered",
    async () => ((await massTruncate(node, "a")).status === 200 ? true : undefined),
    60_000,
    node,
  );

/** Truncates levels that have no tile. Resolves to the status of the answer. */
async function truncatedBelow({ url }: TestServer): Promise<number> {
  const seedRequest = { name: "a", ...SEED, type: "truncate", zoomStart: 12, zoomStop: 12 };
  const response = await fetch(`${url}/rest/seed/a.json`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ seedRequest }),
  });
  await response.arrayBuffer();
  return response.status;
}

/** Reads again until a tile is answered. */
async function readWhenServed(node: TestServer, path = TILE): Promise<Read> {
  let found: Read | undefined;
  const isServed = async () => {
    found = await read(node, path);
    return found.status === 200 ? found : undefined;
  };
  return until(() => `${path} is served, not ${JSON.stringify(found)}`, isServed, 60_000, node);
}

async function answered(url: string) {
  const response = await fetch(url);
  return { status: response.status, headers: response.headers, body: await response.arrayBuffer() };
}

/** Returns status and cache result of a read, or status and fault. */
const short = async (node: TestServer, path = TILE): Promise<string> => {
  const { status, result, fault } = await read(node, path);
  return `${status} ${result || fault}`.trim();
};

/** Renders the tile by one node. Resolves when both nodes have it in memory. */
async function storedBy(node: TestServer, other: TestServer): Promise<void> {
  await readWhenServed(node);
  // The end of a render removes its tiles from the memory of all nodes.
  await rendered(node);
  for (const each of [other, node])
    await until("it is a hit", async () => ((await short(each)) === "200 HIT" ? true : undefined), 60_000, each);
}

const readiness = async ({ url }: TestServer): Promise<string> => {
  const response = await fetch(`${url}/readyz`);
  return `${response.status} ${await response.text()}`;
};

const leadsNow = async (node: TestServer): Promise<string | undefined> =>
  (await nodesOf(node).catch(() => [])).find(({ lead }) => lead)?.name;

async function usageIsExact(node: TestServer, { options }: ProxiedCluster): Promise<void> {
  await rendered(node);
  await until(
    "usage equals the bucket",
    async () => {
      const [{ total }, { tiles, bytes }] = [await usage(node), await scanBucket(options)];
      return total.tiles === tiles && total.bytes === bytes ? true : undefined;
    },
    60_000,
    node,
  );
}

describe.skipIf(!hasPostgres || (NO_S3 !== undefined && NO_VERSITYGW !== undefined))("of two nodes", () => {
  /** Starts two nodes; `a` leads. */
  async function start(onTestFinished: (end: () => Promise<void>) => void, keys = KEYS) {
    const map: DatedMap = await startDatedMap();
    onTestFinished(() => map.upstream.close());
    const place = await startProxiedCluster({
      upstream: map.upstream.url,
      names: ["a", "b"],
      layers: [{ name: "a" }],
      keys,
      more: "diskQuota: { count: content }",
      atEnd: onTestFinished,
    });
    const a = await place.start("a");
    const b = await place.start("b");
    return { map, place, a, b };
  }

  test("a node that is killed holds up a change for its lease at most, and its jobs go on", async ({
    onTestFinished,
  }) => {
    const { a, b } = await start(onTestFinished);
    const id = await seed(b, "a", SEED);
    await b.kill("SIGKILL");
    await truncated(a);
    expect((await ended(a, id)).outcome).toBe("done");
    expect((await nodesOf(a)).map(({ name, state }) => [name, state])).toEqual([
      ["a", "ready"],
      ["b", "lost"],
    ]);
  });

  test("a lead that is cut off from the database ends when its lease ends, and another one leads", async ({
    onTestFinished,
  }) => {
    const { map, place, a, b } = await start(onTestFinished);
    await storedBy(a, b);
    place.database.cut("silence", (owner) => owner?.node === "a");
    // As long as the lease lasts, both nodes continue to serve hits.
    expect([await short(a), await short(b)]).toEqual(["200 HIT", "200 HIT"]);
    await until("b leads", async () => ((await leadsNow(b)) === "b" ? true : undefined), 60_000, b);
    await isReady(b);
    map.version++;
    await truncated(b);
    expect(a.log()).toContain("this node has lost the lease of the lead");
    place.database.mend();
    await isReady(a);
    expect((await readWhenServed(a)).version).toBe(map.version);
    expect(await leadsNow(a)).toBe("b");
  });

  test("a database that falls back in time brings no truncated tile back", async ({ onTestFinished }) => {
    const { map, place, a, b } = await start(onTestFinished);
    const { postgres } = place;
    await ended(a, await seed(a, "a", { ...SEED, zoomStop: 3 }));
    const data = join(postgres.directory, "data");
    postgres.stop("fast");
    cpSync(data, `${data}-before`, { recursive: true, preserveTimestamps: true });
    postgres.start();
    await until("changes are answered", async () => {
      map.version++;
      return (await massTruncate(b, "a")).status === 200 ? true : undefined;
    });
    expect((await readWhenServed(b)).version).toBe(map.version);
    postgres.stop("immediate");
    rmSync(data, { recursive: true });
    renameSync(`${data}-before`, data);
    giveToPostgres(data);
    postgres.start();
    await Promise.all([isReady(a), isReady(b)]);
    for (let x = 0; x < 8; x++)
      for (const node of [a, b]) expect((await readWhenServed(node, `/xyz/a/3/${x}/1.png`)).version).toBe(map.version);
    await usageIsExact(a, place);
  });

  test("clocks that differ by an hour change nothing: leases, puts and truncations hold", async ({
    onTestFinished,
  }) => {
    const { map, place, a, b } = await start(onTestFinished);
    await b.kill("SIGTERM");
    const ahead = { NODE_OPTIONS: `--require ${CLOCK}`, TEST_CLOCK_AHEAD_MS: "3600000" };
    const late = await place.start("b", { env: ahead });
    expect(await short(late)).toBe("200 MISS");
    expect(await short(a)).toBe("200 HIT");
    map.version++;
    await truncated(late);
    for (const node of [a, late]) expect((await readWhenServed(node)).version).toBe(map.version);
    // The node of the other time leads: its puts are signed by the clock of the service.
    await a.kill("SIGKILL");
    linkTo(place, "a").down();
    await until("it leads", async () => ((await leadsNow(late)) === "b" ? true : undefined), 60_000, late);
    await isReady(late);
    expect((await ended(late, await seed(late, "a", { ...SEED, zoomStop: 3 }))).tiles.failed).toBe(0);
    map.version++;
    await truncated(late);
    expect((await readWhenServed(late)).version).toBe(map.version);
    expect(descendantsOf(late.pid).length).toBeGreaterThan(0);
    await usageIsExact(late, place);
  });

  test("a range that is truncated right after a kill has no tile of a put that was under way", async ({
    onTestFinished,
  }) => {
    const { map, place, a, b } = await start(onTestFinished);
    // Tiles of the level that are not truncated: the job has to delete one by one.
    await read(a, "/xyz/a/4/12/12.png");
    await rendered(a);
    let late = 0;
    place.requests.set(({ method, path }) => {
      if (method !== "PUT" || !path.includes("/4/")) return "pass";
      late++;
      return { lateMs: 3_000 };
    });
    void fetch(`${a.url}/xyz/a/4/2/5.png`).catch(() => undefined);
    await until("a put is under way", async () => (late > 0 ? true : undefined));
    map.version++;
    await a.kill("SIGKILL");
    linkTo(place, "a").down();
    await until("b leads", async () => ((await leadsNow(b)) === "b" ? true : undefined), 60_000, b);
    await isReady(b);
    place.requests.set(() => "pass");
    const west = { coords: { double: [-20_037_508, -20_037_508, 0, 20_037_508] } };
    const id = await seed(b, "a", { ...SEED, type: "truncate", zoomStart: 4, bounds: west });
    expect((await ended(b, id)).outcome).toBe("done");
    expect((await readWhenServed(b, "/xyz/a/4/2/5.png")).version).toBe(map.version);
    await until("the late puts have arrived", async () => (place.requests.delayed() === 0 ? true : undefined));
    for (let x = 0; x < 4; x++) expect((await readWhenServed(b, `/xyz/a/4/${x}/5.png`)).version).toBe(map.version);
    await usageIsExact(b, place);
  });

  describe("one of which leads all the time", () => {
    let both: Awaited<ReturnType<typeof start>>;
    const ends: (() => Promise<void>)[] = [];
    beforeAll(async () => {
      both = await start((end) => void ends.unshift(end), "nodeLeaseSeconds: 2, leadLeaseSeconds: 60, putSeconds: 5");
    });
    afterAll(async () => {
      for (const end of ends) await end();
    });
    afterEach(async () => {
      await until("a leads", async () => ((await leadsNow(both.b)) === "a" ? true : undefined), 60_000, both.b);
    });

    /** The tests share the nodes. Each begins without a tile. */
    async function withoutTiles() {
      both.map.version++;
      await truncated(both.a);
      return both;
    }

    test("a renderer that is killed in the middle of its puts leaves exact counts, and the tile is rendered again", async () => {
      const { place, a, b } = await withoutTiles();
      let puts = 0;
      place.requests.set(({ method, path }) => {
        if (method !== "PUT" || !path.includes("/3/")) return "pass";
        puts++;
        return puts % 2 === 0 ? "swallow" : "pass";
      });
      const answers: Promise<number>[] = [];
      await until("a put is under way", async () => {
        // On a busy machine the node may have no lease for a moment.
        if (puts === 0) answers.push(read(a).then(({ status }) => status));
        return puts >= 2 ? true : undefined;
      });
      const [lead = 0] = childrenOf(a.pid);
      const renderers = childrenOf(lead);
      expect(renderers.length).toBeGreaterThan(0);
      for (const pid of renderers) send(pid, "SIGKILL");
      place.requests.set(() => "pass");
      // The render is repeated, or the user gets a failure with `Retry-After`.
      for (const status of await Promise.all(answers)) expect([200, 502, 503]).toContain(status);
      expect((await readWhenServed(b)).status).toBe(200);
      await usageIsExact(b, place);
      expect((await readWhenServed(a)).result).toBe("HIT");
    });

    test.each(["refuse", "silence"] as const)(
      "a node that is cut off from lead and database by %s answers 503, and changes do not wait for it",
      async (how) => {
        const { map, place, a, b } = await withoutTiles();
        await storedBy(a, b);
        linkTo(place, "a").cut(how, ofNode("b"));
        place.database.cut(how, ofNode("b"));
        await until("it is cut off", async () => ((await readiness(b)).startsWith("503") ? true : undefined));
        expect(await readiness(b)).toContain("this node has no lease of the lead");
        expect((await read(b)).status).toBe(503);
        map.version++;
        await truncated(a);
        linkTo(place, "a").mend();
        place.database.mend();
        await isReady(b);
        expect((await readWhenServed(b)).version).toBe(map.version);
        expect(await leadsNow(b)).toBe("a");
      },
    );

    test("a port of the lead that refuses, as behind a firewall, is no end of the lead while PostgreSQL sees it", async () => {
      const { map, place, a, b } = await withoutTiles();
      await storedBy(a, b);
      linkTo(place, "a").down();
      await until("b is cut off", async () => ((await readiness(b)).startsWith("503") ? true : undefined));
      // It searches for the lead repeatedly.
      const looks = place.database.sent(ofNode("b"));
      await until("b has looked for the lead", async () =>
        place.database.sent(ofNode("b")) >= looks + 4 ? true : undefined,
      );
      expect(b.log()).not.toContain("this node takes the lead");
      await linkTo(place, "a").up();
      await Promise.all([isReady(a), isReady(b)]);
      expect(await leadsNow(b)).toBe("a");
      map.version++;
      await truncated(b);
      expect((await readWhenServed(a)).version).toBe(map.version);
    });

    test("a lead alone that is cut off from the database goes on within its lease, and nothing is lost", async () => {
      const { place, a, b } = await withoutTiles();
      await storedBy(a, b);
      const id = await seed(a, "a", SEED);
      place.database.cut("refuse", ofLead("a"));
      try {
        expect(await short(b)).toBe("200 HIT");
        // A truncation of levels without tiles: if it is still answered, the tile that is read below stays.
        await until(
          "a change is refused",
          async () => ((await truncatedBelow(b)) === 503 ? true : undefined),
          20_000,
          a,
        );
        expect(await short(a)).toBe("200 HIT");
      } finally {
        // Otherwise the lead would lose its lease, and each test after this one would fail too.
        place.database.mend();
      }
      await isReady(a);
      expect((await ended(b, id)).outcome).toBe("done");
      expect(await leadsNow(b)).toBe("a");
      await truncated(b);
      await usageIsExact(a, place);
    });

    test("without the database hits go on, tiles are rendered and not stored, changes get 503, and nothing is lost", async () => {
      const { place, a, b } = await withoutTiles();
      await storedBy(a, b);
      const id = await seed(a, "a", SEED);
      place.postgres.stop("immediate");
      expect([await short(a), await short(b)]).toEqual(["200 HIT", "200 HIT"]);
      const refused = await massTruncate(b, "a");
      expect(refused.status).toBe(503);
      expect(refused.headers.get("retry-after")).not.toBeNull();
      expect((await read(b, "/xyz/a/7/1/1.png")).status).toBe(200);
      expect((await scanBucket(place.options)).keys.filter((key) => key.includes("/7/"))).toEqual([]);
      place.postgres.start();
      await truncated(b);
      expect((await ended(b, id)).outcome).toBe("done");
      expect(await leadsNow(b)).toBe("a");
      await usageIsExact(a, place);
    });

    test("without the bucket tiles in memory are served, others get 503, and a job waits and goes on", async () => {
      const { place, a, b } = await withoutTiles();
      await storedBy(a, b);
      const id = await seed(a, "a", SEED);
      await place.service.kill();
      expect([await short(a), await short(b)]).toEqual(["200 HIT", "200 HIT"]);
      const other = await answered(`${b.url}/xyz/a/6/9/9.png`);
      expect([other.status, other.headers.get("retry-after") !== null]).toEqual([503, true]);
      await until("the job waits, or its tiles were stored before", async () => {
        const { reason, state } = await job(b, id);
        return reason !== null || state === "done" ? true : undefined;
      });
      await place.service.start();
      const done = await ended(b, id);
      expect([done.outcome, done.tiles.failed]).toEqual(["done", 0]);
      await until("it is served", async () => ((await read(b, "/xyz/a/6/9/9.png")).status === 200 ? true : undefined));
      await usageIsExact(a, place);
    });
  });
});
