import { linkSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Client } from "pg";
import { thisMachine } from "../../src/lib/this-machine.ts";
import { OWN_KEYS } from "../../src/store/remote/remote-options.ts";
import { createRemoteStore } from "../../src/store/remote/remote-store.ts";
import { S3Client } from "../../src/store/s3/s3-client.ts";
import { type Postgres, removePostgres, startPostgres } from "../support/postgres/postgres.ts";
import { type S3Server, startS3 } from "../support/s3/server.ts";
import { massTruncate, rendered, startServer, type TestServer, usage } from "../support/server/server.ts";
import { smallTiles } from "../support/server/wms-configuration.ts";
import { until } from "../support/until.ts";
import { startUpstream } from "../support/upstream/upstream.ts";

/*
 * `npm run soak:s3 [tiles]`: truncates a layer of 1,000,000 tiles in S3 (versitygw) with the state in PostgreSQL, and one
 * of a tile. Both are answered within 50 ms of a commit and a PUT, and the bucket is clean after two sweeps.
 */

const TILES = Number(process.argv[2] ?? 1_000_000);
const LEVEL = 10;
const SIDE = 2 ** LEVEL;
const ROUNDS = 20;
const MOST_MS = 50;
const PREFIX = "large";
const LAYERS = ["one", "many"] as const;
const THREAD = new URL("../../dist/bridge-thread.cjs", import.meta.url);

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

const tileOf = (server: TestServer, layer: string, place = "0/0/0") => fetch(`${server.url}/xyz/${layer}/${place}.png`);

/** Makes one tile of each layer by a separate server, and links the file of the second tile to many names. */
async function fill(service: S3Server, configuration: string): Promise<void> {
  const server = await startServer({ configuration });
  for (const layer of LAYERS) await (await tileOf(server, layer)).arrayBuffer();
  await server.kill("SIGTERM");
  await server.close();
  await using client = new S3Client(service.options(PREFIX), thisMachine);
  const keys: string[] = [];
  for await (const { objects } of client.list({ prefix: "" })) keys.push(...objects.map(({ key }) => key));
  const first = keys.find((key) => key.startsWith("many/") && key.endsWith("/0/0/0.png"));
  if (first === undefined) throw new Error(`no tile among ${keys}`);
  const directory = join(service.bucketDirectory, PREFIX, dirname(dirname(dirname(first))));
  for (let n = 0; n < TILES; n++) {
    const [x, y] = [Math.floor(n / SIDE), n % SIDE];
    const column = join(directory, String(LEVEL), String(x));
    if (y === 0) mkdirSync(column, { recursive: true });
    linkSync(join(service.bucketDirectory, PREFIX, first), join(column, `${y}.png`));
  }
}

/** Returns the medians of a commit and of a PUT. */
async function costs(postgres: Postgres, service: S3Server): Promise<{ commitMs: number; putMs: number }> {
  const database = new Client({ connectionString: postgres.url("postgres") });
  await database.connect();
  await database.query("CREATE TABLE probe (n int)");
  await using client = new S3Client(service.options(PREFIX), thisMachine);
  const [commits, puts]: [number[], number[]] = [[], []];
  for (let n = 0; n < ROUNDS; n++) {
    commits.push(await timed(() => database.query("INSERT INTO probe VALUES ($1)", [n])));
    puts.push(await timed(() => client.put("probe", Buffer.from("x"), { contentType: "text/plain" })));
  }
  await client.delete("probe");
  await database.end();
  return { commitMs: median(commits), putMs: median(puts) };
}

/** Sweeps the bucket, now and an hour later, and returns the keys that are left. */
async function sweptTwice(service: S3Server): Promise<readonly string[]> {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-s3-sweep-"));
  await using store = createRemoteStore(
    { ...service.options(PREFIX), namesFile: join(directory, "names.json"), isOwner: true },
    (pending) => new S3Client(service.options(PREFIX), thisMachine, process.env, pending),
    thisMachine,
    THREAD,
  );
  store.asideIds();
  const { signal } = new AbortController();
  console.log(`the first sweep took ${Math.round((await timed(() => store.sweepRemote(signal))) / 1000)} s`);
  const real = Date.now;
  Date.now = () => real() + 3_700_000;
  if ((await store.sweepRemote(signal)) !== undefined) throw new Error("a third sweep is due");
  Date.now = real;
  rmSync(directory, { recursive: true });
  await using client = new S3Client(service.options(PREFIX), thisMachine);
  const left: string[] = [];
  for await (const { objects } of client.list({ prefix: "" })) left.push(...objects.map(({ key }) => key));
  return left.filter((key) => !key.startsWith(`${OWN_KEYS}/`));
}

async function run(service: S3Server, postgres: Postgres, upstreamUrl: string): Promise<void> {
  const account = "accessKeyId: nuthatch, secretAccessKey: nuthatch-secret";
  const place = `endpoint: "${service.endpoint}", bucket: tiles, prefix: ${PREFIX}, pathStyle: true`;
  const stores = `stores: [{ id: main, type: s3, ${place}, ${account} }]\nstore: { undoSeconds: 0 }\n`;
  const layers = LAYERS.map((name) => ({ name }));
  const configuration = smallTiles(upstreamUrl, layers, stores);
  console.log(`${TILES} tiles were made in ${Math.round((await timed(() => fill(service, configuration))) / 1000)} s`);
  const env = { NUTHATCH_STATE_TYPE: "postgres", NUTHATCH_STATE_URL: postgres.url("postgres") };
  const server = await startServer({ configuration, env });
  const late: string[] = [];
  try {
    // The bucket is being taken over. A truncation removes tiles that are not counted yet, too.
    const counted = await until(
      "the count of the tiles has begun",
      async () => {
        const { tiles } = (await usage(server)).total;
        return tiles > 100 ? tiles : undefined;
      },
      600_000,
      server,
    );
    console.log(`${counted} tiles are counted`);
    const { commitMs, putMs } = await costs(postgres, service);
    console.log(`medians: a commit ${commitMs.toFixed(1)} ms, a PUT ${putMs.toFixed(1)} ms`);
    for (const [layer, tiles, read] of [
      ["one", 1, "0/0/0"],
      ["many", TILES + 1, `${LEVEL}/0/${SIDE - 1}`],
    ] as const) {
      const times: number[] = [];
      // The tiles of the second one are there only once; a tile of the first is rendered again for each round.
      for (let round = 0; round < (layer === "one" ? ROUNDS : 1); round++) {
        // A truncation waits for the end of renders that store tiles of its layer.
        await rendered(server);
        times.push(
          await timed(async () => {
            const { status } = await massTruncate(server, layer);
            if (status !== 200) throw new Error(`the truncation of ${layer}: ${status}`);
          }),
        );
        const answer = await tileOf(server, layer, read);
        await answer.arrayBuffer();
        if (answer.headers.get("geowebcache-cache-result") !== "MISS") throw new Error("the next read is no miss");
      }
      const tookMs = median(times);
      console.log(`a truncation of ${tiles} tiles was answered in ${tookMs.toFixed(1)} ms; the next read was a miss`);
      if (tookMs > commitMs + putMs + MOST_MS) late.push(layer);
      await massTruncate(server, layer);
    }
    console.log(`usage after it: ${(await usage(server)).total.tiles} tiles`);
    await server.kill("SIGTERM");
  } finally {
    await server.close();
  }
  const left = await sweptTwice(service);
  console.log(`keys left in the bucket: ${left.length}`);
  if (left.length > 0) throw new Error(`left in the bucket: ${left.slice(0, 5)}`);
  if (late.length > 0) throw new Error(`${late}: later than a commit, a PUT and ${MOST_MS} ms`);
}

const directory = mkdtempSync(join(tmpdir(), "nuthatch-soak-s3-"));
const upstream = await startUpstream();
try {
  await using service = await startS3("versitygw");
  await run(service, startPostgres(`${directory}-postgres`, "on"), upstream.url);
} finally {
  removePostgres(`${directory}-postgres`);
  rmSync(directory, { recursive: true });
  await upstream.close();
}
