import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { inFull } from "../../support/full.ts";
import { truncations, undo } from "../../support/jobs/truncations.ts";
import { random } from "../../support/random.ts";
import { scanBucket, sweptTwice } from "../../support/s3/bucket-scan.ts";
import { NO_S3, NO_VERSITYGW, startS3 } from "../../support/s3/server.ts";
import { closedAfterEach } from "../../support/server/running.ts";
import { massTruncate, rendered, seed, startServer, type TestServer, usage } from "../../support/server/server.ts";
import { smallTiles } from "../../support/server/wms-configuration.ts";
import { testSeed } from "../../support/test-seed.ts";
import { until } from "../../support/until.ts";
import { type DatedMap, Floor, startDatedMap, versionOf } from "../../support/upstream/dated-map.ts";

const KILLS = inFull("kills", 100, 10);
const SERVICE = NO_VERSITYGW === undefined ? "versitygw" : "SeaweedFS";
const running = closedAfterEach();

class Life {
  readonly #random = random(testSeed());
  readonly #map: DatedMap;
  readonly floor = new Floor();
  server: TestServer;
  readonly stale: string[] = [];
  reads = 0;
  truncated = 0;
  undone = 0;

  constructor(map: DatedMap, server: TestServer) {
    this.#map = map;
    this.server = server;
  }

  /** The number of answered truncations and undos. */
  get changes(): number {
    return this.truncated + this.undone;
  }

  below(n: number): number {
    return Math.floor(this.#random() * n);
  }

  /** Works until the server is killed. A request without an answer may have been carried out. */
  async work(signal: AbortSignal): Promise<void> {
    const loops = [this.#operate(signal), ...[1, 2, 3, 4].map(() => this.#read(signal))];
    await Promise.all(loops);
  }

  async #operate(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#operateOnce();
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
  }

  async isReady(): Promise<true | undefined> {
    return (await fetch(`${this.server.url}/readyz`)).status === 200 ? true : undefined;
  }

  async #operateOnce(): Promise<void> {
    const { server } = this;
    if ((await this.isReady()) === undefined) {
      await sleep(20);
      return;
    }
    const known = await truncations(server, "?layer=a");
    this.floor.note(known.map(({ id }) => id));
    switch (this.below(4)) {
      case 0: {
        // Tiles that are rendered from now on are new. Tiles of earlier renders must not be served after the answer.
        const version = ++this.#map.version;
        const answer = await massTruncate(server, "a");
        if (answer.status !== 200) return;
        const [last] = await truncations(server, "?layer=a");
        this.floor.note(last === undefined ? [] : [last.id]);
        this.floor.now = version;
        this.truncated++;
        return;
      }
      case 1: {
        const last = known.find(({ state }) => state === "kept");
        if (last === undefined) return;
        this.floor.undoing(last.id);
        if ((await undo(server, last.id)).status === 200) this.undone++;
        return;
      }
      case 2:
        await seed(server, "a", { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 4, threadCount: 2 });
        return;
      default:
        await sleep(this.below(300));
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const z = this.below(5);
      const [x, y] = [this.below(2 ** z), this.below(2 ** z)];
      const floorBefore = this.floor.now;
      try {
        const response = await fetch(`${this.server.url}/xyz/a/${z}/${x}/${y}.png`);
        const body = new Uint8Array(await response.arrayBuffer());
        if (response.status !== 200) {
          await sleep(20);
          continue;
        }
        const version = await versionOf(body);
        this.reads++;
        // Without a pause the readers would take most of the processors.
        await sleep(this.below(60));
        if (version < Math.min(floorBefore, this.floor.now))
          this.stale.push(`${z}/${x}/${y}: version ${version}, expected ${floorBefore} or later`);
      } catch (error) {
        if (!signal.aborted && this.server.log().includes("fatal")) throw error;
      }
    }
  }
}

describe.skipIf(NO_S3 !== undefined && NO_VERSITYGW !== undefined)(`tiles in S3, by ${SERVICE}`, () => {
  test(`a server that seeds, truncates and undoes is killed ${KILLS} times: nothing old comes back, the counts are exact, and the bucket is clean (seed ${testSeed()})`, {
    timeout: 3_600_000,
  }, async () => {
    await using service = await startS3(SERVICE);
    const map = await startDatedMap();
    running.upstream = map.upstream;
    const account = "accessKeyId: nuthatch, secretAccessKey: nuthatch-secret";
    const place = `endpoint: "${service.endpoint}", bucket: tiles, prefix: kills, pathStyle: true`;
    const store = `stores: [{ id: main, type: s3, ${place}, ${account} }]\ndiskQuota: { count: content }\n`;
    const life = new Life(
      map,
      await startServer({ configuration: smallTiles(map.upstream.url, [{ name: "a" }], store) }),
    );
    running.server = life.server;
    for (let n = 0; n < KILLS; n++) {
      const killed = new AbortController();
      const work = life.work(killed.signal);
      // Some kills hit the start, other kills hit a server that has answered some reads, on a machine of any speed.
      if (life.below(5) > 0) {
        await until("ready", () => life.isReady(), 30_000, life.server);
        const wanted = life.reads + life.below(20);
        await until("some reads", async () => (life.reads >= wanted ? true : undefined), 60_000, life.server);
      }
      // A slow machine answers few changes between two kills.
      const changes = life.changes;
      if (n % 5 === 4)
        await until("a change", async () => (life.changes > changes ? true : undefined), 60_000, life.server);
      await sleep(life.below(400));
      killed.abort();
      await life.server.kill("SIGKILL");
      await work;
      life.server = await life.server.restart();
      running.server = life.server;
      expect(life.stale).toEqual([]);
      if (n % 10 === 9)
        console.log(`${n + 1} kills, ${life.reads} reads, ${life.truncated} truncations, ${life.undone} undos`);
    }
    console.log(`${life.reads} reads, ${life.truncated} truncations and ${life.undone} undos were answered`);
    expect(life.changes).toBeGreaterThan(KILLS / 10);
    await fetch(`${life.server.url}/rest/seed`, { method: "POST", body: "kill_all=all" });
    await rendered(life.server);
    const counted = async () => {
      const { total } = await usage(life.server);
      const { tiles, bytes } = await scanBucket(service.options("kills"));
      return Number(total.tiles) === tiles && Number(total.bytes) === bytes ? true : undefined;
    };
    await until("usage equals the bucket", counted, 60_000, life.server);
    for (const { id, state } of await truncations(life.server, "?layer=a"))
      if (state === "kept") await fetch(`${life.server.url}/api/v1/truncations/${id}`, { method: "DELETE" });
    await life.server.kill("SIGTERM");
    const before = await scanBucket(service.options("kills"));
    await sweptTwice(service.options("kills"));
    const after = await scanBucket(service.options("kills"));
    expect(after.unreadable).toEqual([]);
    expect(after.keys).toEqual(before.keys);
    expect(life.server.log()).not.toMatch(/"level":"error"|unhandled/i);
  });
});
