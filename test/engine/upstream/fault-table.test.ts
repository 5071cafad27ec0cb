import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, test } from "vitest";
import { ended, seed, startServer, type TestServer, usage } from "../../support/server/server.ts";
import { scanStore } from "../../support/stores/store-scan.ts";
import { until } from "../../support/until.ts";
import {
  type Behaviour,
  type MapRequested,
  picture,
  png,
  startUpstream,
  type Upstream,
} from "../../support/upstream/upstream.ts";

const USER = "fault-user";
const PASSWORD = "fault-password";
const KEY = "fault-key-0123456789";
const SECRETS = [USER, PASSWORD, KEY, Buffer.from(`${USER}:${PASSWORD}`).toString("base64"), "127.0.0.1", "localhost"];

/** Parts of the request that error pages repeat. The client must not get them. */
const gossip = ({ target, authorization }: MapRequested, url: string): string =>
  `at ${url}${target.slice(target.indexOf("?"))} on ${new URL(url).host} for ${USER} ${PASSWORD} ${authorization}`;

interface Fault {
  readonly name: string;
  readonly behaviour: (upstream: Upstream) => Behaviour;
  /** The status that the user gets. */
  readonly status: number;
  readonly words: RegExp;
  /** The expected counts. */
  readonly failure: string;
  /** Whether the upstream counts as down if the fault continues. */
  readonly breaks: "opens the breaker" | "leaves the breaker closed";
  readonly timeoutSeconds?: number;
  readonly retryAfter?: string;
}

const text =
  (status: number, words: string, headers: Readonly<Record<string, string>> = {}) =>
  ({ url }: Upstream): Behaviour =>
  (request, response) => {
    response.writeHead(status, { "Content-Type": "text/plain", ...headers }).end(`${words} ${gossip(request, url)}`);
    return "handled";
  };

const bytes =
  (make: (request: MapRequested, upstream: Upstream) => Uint8Array, headers: Readonly<Record<string, string>> = {}) =>
  (upstream: Upstream): Behaviour =>
  (request, response) => {
    response.writeHead(200, { "Content-Type": "image/png", ...headers }).end(make(request, upstream));
    return "handled";
  };

const BOMB_BYTES = 16 * 1024 * 1024;
const bombs = new Map<string, Buffer>();
/** Made once, by the first who needs it. */
function bomb(name: string, make: (zeros: Buffer) => Buffer): Buffer {
  const made = bombs.get(name) ?? make(Buffer.alloc(BOMB_BYTES));
  bombs.set(name, made);
  return made;
}

const FAULTS: readonly Fault[] = [
  {
    name: "500",
    behaviour: text(500, "out of memory"),
    status: 502,
    words: /status 500: out of memory/,
    failure: "server_error",
    breaks: "opens the breaker",
  },
  {
    name: "429 with Retry-After",
    behaviour: text(429, "slow down", { "Retry-After": "2" }),
    status: 503,
    words: /status 429: slow down/,
    failure: "busy",
    breaks: "opens the breaker",
    retryAfter: "2",
  },
  {
    name: "503",
    behaviour: text(503, "in maintenance"),
    status: 502,
    words: /status 503: in maintenance/,
    failure: "server_error",
    breaks: "opens the breaker",
  },
  {
    name: "503 with Retry-After",
    behaviour: text(503, "in maintenance", { "Retry-After": "1" }),
    status: 503,
    words: /status 503: in maintenance/,
    failure: "busy",
    breaks: "opens the breaker",
    retryAfter: "1",
  },
  {
    name: "hang",
    behaviour: () => () => "handled",
    status: 504,
    words: /no whole answer in 1 seconds/,
    failure: "timeout",
    breaks: "opens the breaker",
    timeoutSeconds: 1,
  },
  {
    name: "slow drip",
    behaviour:
      () =>
      ({ width, height }, response) => {
        const whole = picture(width, height);
        let sent = 0;
        response.writeHead(200, { "Content-Type": "image/png", "Content-Length": whole.byteLength });
        // Each byte would restart a time-out for silence.
        const drip = setInterval(() => response.write(whole.subarray(sent, ++sent)), 20);
        response.on("close", () => clearInterval(drip));
        return "handled";
      },
    status: 504,
    words: /no whole answer in 1 seconds/,
    failure: "timeout",
    breaks: "opens the breaker",
    timeoutSeconds: 1,
  },
  {
    name: "reset before the answer",
    behaviour: () => (_, response) => {
      response.destroy();
      return "handled";
    },
    status: 502,
    words: /the connection broke/,
    failure: "reset",
    breaks: "opens the breaker",
  },
  {
    name: "reset in the middle of the answer",
    behaviour:
      () =>
      ({ width, height }, response) => {
        const whole = picture(width, height);
        response.writeHead(200, { "Content-Type": "image/png", "Content-Length": whole.byteLength });
        response.write(whole.subarray(0, whole.byteLength >> 1), () => response.destroy());
        return "handled";
      },
    status: 502,
    words: /the connection broke in the middle/,
    failure: "truncated",
    breaks: "leaves the breaker closed",
  },
  {
    name: "redirect loop",
    behaviour:
      ({ url }) =>
      ({ target }, response) => {
        response.writeHead(302, { Location: `${new URL(url).origin}${target}` }).end();
        return "handled";
      },
    status: 502,
    words: /status 302: redirected too often/,
    failure: "http_status",
    breaks: "leaves the breaker closed",
  },
  {
    name: "huge body",
    behaviour: () => (_, response) => {
      response.writeHead(200, { "Content-Type": "image/png", "Content-Length": 2 ** 40 });
      response.write(picture(64, 64));
      return "handled";
    },
    status: 502,
    words: /the answer is larger than \d+ bytes/,
    failure: "too_large",
    breaks: "leaves the breaker closed",
  },
  {
    name: "decompression bomb: a gzip body that nobody asked for",
    behaviour: bytes(() => bomb("gzip", (zeros) => gzipSync(zeros, { level: 1 })), { "Content-Encoding": "gzip" }),
    status: 502,
    words: /the answer is no picture/,
    failure: "wrong_type",
    breaks: "leaves the breaker closed",
  },
  {
    name: "decompression bomb: a PNG of enormous size",
    behaviour: bytes(() => png(65_535, 65_535, new Uint8Array(64))),
    status: 502,
    words: /the picture is 65535 x 65535, requested was \d+ x \d+/,
    failure: "wrong_size",
    breaks: "leaves the breaker closed",
  },
  {
    name: "decompression bomb: a PNG that holds more than its size says",
    behaviour: bytes(({ width, height }) => bomb(`${width} x ${height}`, (zeros) => png(width, height, zeros))),
    status: 502,
    words: /the PNG holds more than its size says/,
    failure: "too_large",
    breaks: "leaves the breaker closed",
  },
  {
    name: "XML as PNG",
    behaviour: bytes((request, { url }) =>
      Buffer.from(
        `<ServiceExceptionReport><ServiceException>no layer roads ${gossip(request, url).replaceAll("&", "&amp;")}</ServiceException></ServiceExceptionReport>`,
      ),
    ),
    status: 502,
    words: /no layer roads/,
    failure: "exception",
    breaks: "leaves the breaker closed",
  },
  {
    name: "empty",
    behaviour: bytes(() => new Uint8Array(0)),
    status: 502,
    words: /the answer is empty/,
    failure: "empty",
    breaks: "leaves the breaker closed",
  },
  {
    name: "truncated PNG",
    behaviour: bytes(({ width, height }) => picture(width, height).subarray(0, -20)),
    status: 502,
    words: /ends before its end/,
    failure: "truncated",
    breaks: "leaves the breaker closed",
  },
  {
    name: "wrong size",
    behaviour: bytes(({ width, height }) => picture(width - 1, height)),
    status: 502,
    words: /the picture is \d+ x \d+, requested was \d+ x \d+/,
    failure: "wrong_size",
    breaks: "leaves the breaker closed",
  },
];

/** One server for all rows. Each row has a separate layer and upstream, so that rows do not affect each other. */
const BLANK = "blank";
const ENDLESS = "endless body";
const names = [...FAULTS.map(({ name }) => name), BLANK, ENDLESS];
const layerOf = (name: string): string => `ws:fault${names.indexOf(name)}`;
const upstreams = new Map<string, Upstream>();
let server: TestServer | undefined;

function at(name: string): { readonly layer: string; readonly upstream: Upstream; readonly server: TestServer } {
  const upstream = upstreams.get(name);
  if (upstream === undefined || server === undefined) throw new Error(`no upstream for ${name}`);
  return { layer: layerOf(name), upstream, server };
}

beforeAll(async () => {
  for (const name of names) upstreams.set(name, await startUpstream());
  const timeouts = new Map(FAULTS.map(({ name, timeoutSeconds }) => [name, timeoutSeconds]));
  server = await startServer({
    env: { UPSTREAM_PASSWORD: PASSWORD },
    configuration: `layers:
${names
  .map(
    (name) => `  - name: ${layerOf(name)}
    source: { type: wms, url: "${urlOf(name)}", layers: [roads], timeoutSeconds: ${timeouts.get(name) ?? 20}, username: ${USER}, password: "\${UPSTREAM_PASSWORD}", vendorParameters: { apikey: ${KEY} } }
    gridSubsets: [{ gridSet: EPSG:900913 }]
    formats: [image/png]
    metatile: [2, 2]
    gutter: 0`,
  )
  .join("\n")}
`,
  });
});
afterAll(async () => {
  await server?.close();
  for (const upstream of upstreams.values()) await upstream.close();
});

const urlOf = (name: string): string => upstreams.get(name)?.url ?? "";

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A tile of the n-th metatile of level 8. */
async function query({ url }: TestServer, layer: string, metatile: number): Promise<Answer> {
  const answer = await fetch(`${url}/xyz/${layer}/8/${2 * metatile}/0.png`);
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

const isRefusedAtOnce = ({ status, text }: Answer): boolean => status === 503 && text === "The map server is down.";

/** Tiles of a layer: by the ledger, and by looking. */
/** The number of stored tiles, by the usage and by the files. The neighbours of a missed tile are stored after it. */
async function stored(name: string, expected: number): Promise<{ readonly counted: number; readonly found: number }> {
  const { server, layer } = at(name);
  await until("the metatile is stored", async () =>
    (await usage(server)).layers.find((one) => one.layer === layer)?.tiles === expected ? true : undefined,
  );
  return counted(name);
}

async function counted(name: string): Promise<{ readonly counted: number; readonly found: number }> {
  const { server, layer } = at(name);
  const of = (await usage(server)).layers.find((one) => one.layer === layer);
  const directory = `/${layer.replace(":", "_")}/`;
  return {
    counted: of?.tiles ?? -1,
    found: scanStore(server.dataDir).files.filter((file) => file.includes(directory)).length,
  };
}

const SMALL_SEED = { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 1, format: "image/png" };

describe("an upstream's fault", () => {
  test.concurrent.for(FAULTS)(
    "$name: $status, counted as $failure, nothing stored, $breaks",
    async (fault, { expect }) => {
      const { layer, upstream, server } = at(fault.name);
      const secrets = [...SECRETS, new URL(upstream.url).port];
      const hasNoSecrets = (reported: string): void => {
        for (const secret of secrets) expect(reported).not.toContain(secret);
      };
      upstream.behaviour = fault.behaviour(upstream);

      // The user's answer, in the form of the protocol.
      const plain = await query(server, layer, 0);
      expect([plain.status, plain.headers.get("cache-control")]).toEqual([fault.status, "no-store"]);
      expect(plain.headers.get("content-type")).toMatch(/^text\/plain(; charset=utf-8)?$/);
      expect(plain.text).toMatch(fault.words);
      expect(plain.headers.get("retry-after")).toBe(fault.retryAfter ?? null);
      hasNoSecrets(plain.text + JSON.stringify([...plain.headers]));
      const kvp = await fetch(
        `${server.url}/service/wmts?REQUEST=GetTile&LAYER=${layer}&FORMAT=image/png&TILEMATRIXSET=EPSG:900913&TILEMATRIX=EPSG:900913:8&TILEROW=0&TILECOL=2`,
      );
      const document = await kvp.text();
      expect([kvp.status, kvp.headers.get("content-type")]).toEqual([fault.status, "text/xml"]);
      expect(document).toMatch(/exceptionCode="NoApplicableCode"/);
      expect(document).toMatch(fault.words);
      hasNoSecrets(document);

      // What is counted.
      const id = await seed(server, layer, { ...SMALL_SEED, tileFailureRetryCount: 0 });
      const job = await ended(server, id);
      expect(job).toMatchObject({
        state: "done",
        outcome: "failed",
        tiles: { total: 5, stored: 0, skipped: 0, failed: 5 },
        errors: [{ class: fault.failure, count: 5, message: expect.stringMatching(fault.words) }],
      });
      hasNoSecrets(JSON.stringify(job));

      // Further requests are refused because the upstream is known to be down, or are sent to it each time.
      if (fault.breaks === "opens the breaker") {
        const refused = await until(`${fault.name}: a miss is refused without asking`, async () => {
          const before = upstream.asked.length;
          const answer = await query(server, layer, 2);
          return isRefusedAtOnce(answer) && upstream.asked.length === before ? answer : undefined;
        });
        expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
        expect(refused.headers.get("cache-control")).toBe("no-store");
      } else {
        const before = upstream.asked.length;
        const more = [2, 3, 4, 5, 6, 7];
        const answers = await Promise.all(more.map((metatile) => query(server, layer, metatile)));
        expect(answers.map(({ status }) => status)).toEqual(more.map(() => fault.status));
        expect(upstream.asked.length - before).toBeGreaterThanOrEqual(more.length);
      }

      // Nothing is stored.
      expect(await counted(fault.name)).toEqual({ counted: 0, found: 0 });

      // It is well again: so is everybody, without a restart.
      upstream.behaviour = () => "render";
      const well = await until(`${fault.name}: a tile is rendered`, async () => {
        const answer = await query(server, layer, 0);
        return answer.status === 200 ? answer : undefined;
      });
      expect(well.headers.get("geowebcache-cache-result")).toBe("MISS");
      await until(`${fault.name}: everybody is served`, async () => {
        const others = await Promise.all([1, 2, 3, 4, 5, 6].map((metatile) => query(server, layer, metatile)));
        return others.every(({ status }) => status === 200) ? true : undefined;
      });
      expect((await query(server, layer, 0)).headers.get("geowebcache-cache-result")).toBe("HIT");
      for (const secret of [PASSWORD, KEY]) expect(server.log()).not.toContain(secret);
    },
  );

  test.concurrent("blank: the tile is the answer, and is stored", async ({ expect }) => {
    const { layer, upstream, server } = at(BLANK);
    upstream.behaviour = bytes(({ width, height }) => png(width, height, Buffer.alloc((width * 3 + 1) * height)))(
      upstream,
    );
    const first = await query(server, layer, 0);
    expect([first.status, first.headers.get("content-type"), first.headers.get("geowebcache-cache-result")]).toEqual([
      200,
      "image/png",
      "MISS",
    ]);
    expect((await query(server, layer, 0)).headers.get("geowebcache-cache-result")).toBe("HIT");
    const job = await ended(server, await seed(server, layer, SMALL_SEED));
    expect(job).toMatchObject({ outcome: "done", tiles: { total: 5, stored: 5, failed: 0 }, errors: [] });
    expect(await stored(BLANK, 4 + 5)).toEqual({ counted: 4 + 5, found: 4 + 5 });
    expect(upstream.asked).toHaveLength(3);
  });

  test.concurrent("endless body: it is cut off, and the next one is read", async ({ expect }) => {
    const { layer, upstream, server } = at(ENDLESS);
    const megabyte = Buffer.alloc(1024 * 1024);
    upstream.behaviour = (_, response) => {
      response.writeHead(200, { "Content-Type": "image/png" });
      const pour = (): void => {
        while (!response.destroyed && response.write(megabyte));
      };
      response.on("drain", pour);
      pour();
      return "handled";
    };
    const answer = await query(server, layer, 0);
    expect([answer.status, answer.text]).toEqual([502, expect.stringMatching(/larger than \d+ bytes/)]);
    await until("nothing pours any more", async () => (upstream.inFlight() === 0 ? true : undefined));
    upstream.behaviour = () => "render";
    expect((await query(server, layer, 0)).status).toBe(200);
    expect(await stored(ENDLESS, 4)).toEqual({ counted: 4, found: 4 });
  });
});
