import {
  ended,
  massTruncate,
  putQuota,
  rows,
  seed,
  startServer,
  type TestServer,
  until,
  usage,
} from "../support/server.ts";
import { scanStore } from "../support/store-scan.ts";
import { drawNoise, startUpstream } from "../support/upstream.ts";
import { smallTiles } from "../support/wms-configuration.ts";
import { chanceOf } from "./chance.ts";

export interface Life {
  /** kill -9 so many times, at random moments. */
  readonly kills: number;
  /** Until so many tiles have been put, overwritten or deleted. */
  readonly tiles: number;
  readonly seed: number;
  readonly tell: (line: string) => void;
}

const LAYERS = ["a", "b", "c"] as const;
/** Of the configuration. */
const EXTRA = { a: "", b: "formatsTogether: true", c: "metatile: [3, 5]" } as const;
/** The part of the world that is used: tiles of zoom 6. */
const SIDE = 64;
const WORLD = 20037508.342789244;

/**
 * A server's life: users' reads, seeds, reseeds, truncations of areas and of layers, quotas that come and go, and kills at
 * random moments. After each restart, and at the end, usage must equal what the store holds.
 * @throws when it does not
 */
export async function liveRandomly({ kills, tiles, seed: start, tell }: Life): Promise<void> {
  const { below: random, pick } = chanceOf(start);
  const upstream = await startUpstream();
  upstream.behaviour = drawNoise(12, 64);
  let server = await startServer({
    configuration: smallTiles(
      upstream.url,
      LAYERS.map((name) => ({ name, extra: EXTRA[name] })),
    ),
  });

  const area = () => {
    const [x, y, width, height] = [random(SIDE), random(SIDE), 1 + random(24), 1 + random(24)];
    const at = (n: number): number => -WORLD + (2 * WORLD * Math.min(n, SIDE)) / SIDE;
    return { coords: { double: [at(x) + 1, at(y) + 1, at(x + width) - 1, at(y + height) - 1] } };
  };
  const request = (type: string) => ({
    gridSetId: "EPSG:900913",
    type,
    format: pick(["image/png", "image/jpeg"]),
    zoomStart: 6,
    zoomStop: 6 + random(2),
    threadCount: 1 + random(4),
    bounds: area(),
  });
  const read = async () => {
    const extension = pick(["png", "jpeg"]);
    const response = await fetch(`${server.url}/xyz/${pick(LAYERS)}/6/${random(SIDE)}/${random(SIDE)}.${extension}`);
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`a read was answered with ${response.status}`);
  };
  const clearLayer = async () => {
    const response = await massTruncate(server, pick(LAYERS));
    if (response.status !== 200) throw new Error(`masstruncate was answered with ${response.status}`);
  };
  const changeQuota = () =>
    putQuota(server, {
      enabled: random(3) > 0,
      cacheCleanUpFrequency: 1,
      cacheCleanUpUnits: "SECONDS",
      globalExpirationPolicyName: pick(["LRU", "LFU"]),
      globalQuota: { value: 1 + random(20), units: "MiB" },
      layerQuotas:
        random(2) === 0
          ? []
          : [{ layer: "b", expirationPolicyName: "LRU", quota: { value: 1 + random(4), units: "MiB" } }],
    });
  const step = async (): Promise<void> => {
    const what = random(100);
    if (what < 70) for (let i = 0; i < 10; i++) await read();
    else if (what < 82) await seed(server, pick(LAYERS), request("seed"));
    else if (what < 87) await seed(server, pick(LAYERS), request("reseed"));
    else if (what < 95) await seed(server, pick(LAYERS), request("truncate"));
    else if (what < 97) await clearLayer();
    else await changeQuota();
  };

  /** Tiles that jobs have stored and deleted, by the job's id. */
  const byJob = new Map<number, number>();
  const worked = async (at: TestServer): Promise<number> => {
    const answer: { jobs: { id: number; tiles: { stored?: number; deleted?: number } }[] } = JSON.parse(
      await (await fetch(`${at.url}/api/v1/jobs?limit=1000`)).text(),
    );
    for (const { id, tiles: t } of answer.jobs) byJob.set(id, (t.stored ?? 0) + (t.deleted ?? 0));
    return [...byJob.values()].reduce((sum, n) => sum + n, 0);
  };
  const check = async (when: string): Promise<void> => {
    // Jobs go on after a restart: they are stopped, so that the store stands still while it is scanned.
    await (await fetch(`${server.url}/rest/seed`, { method: "POST", body: "kill_all=all" })).arrayBuffer();
    await until("nothing runs", async () => ((await rows(server)).length === 0 ? true : undefined));
    await putQuota(server, { enabled: false });
    const counted = await usage(server, "?by=tileSet");
    const scan = scanStore(server.dataDir);
    const told = `${when}: usage ${counted.total.tiles} tiles and ${counted.total.bytes} bytes, store ${scan.tiles} and ${scan.bytes}`;
    tell(told);
    if (counted.total.tiles !== scan.tiles || counted.total.bytes !== scan.bytes) throw new Error(told);
    const sets = counted.tileSets ?? [];
    for (const parts of [counted.layers, sets, sets.flatMap((set) => set.zooms)]) {
      const tiles = parts.reduce((sum, part) => sum + part.tiles, 0);
      const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
      if (tiles !== scan.tiles || bytes !== scan.bytes) throw new Error(`${told}; parts add up to ${tiles}, ${bytes}`);
    }
    if (sets.some((set) => set.tiles < 0 || set.bytes < 0)) throw new Error(`${told}; something is negative`);
  };

  try {
    let done = 0;
    for (let kill = 1; kill <= kills; kill++) {
      // Each life does its share of the work, and is ended in the middle of a step.
      do {
        for (let i = 0; i < 3 + random(12); i++) await step();
        const running = (await rows(server)).length;
        if (running > 60)
          await until("most has ended", async () => ((await rows(server)).length < 20 ? true : undefined));
        done = await worked(server);
      } while (done < (tiles * kill) / kills);
      const last = step().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, random(60)));
      server = await server.restart("SIGKILL");
      await last;
      await check(`kill ${kill}, ${done} tiles`);
    }
    const id = await seed(server, "a", { ...request("seed"), format: "image/png" });
    await ended(server, id);
    await check(`the end, after ${done} tiles`);
  } finally {
    await server.close();
    await upstream.close();
  }
}
