import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer, type TestServer } from "../test/support/server/server.ts";
import { startUpstream } from "../test/support/upstream/upstream.ts";
import { cpuSeconds, median, memoryMiB, pause, quantile } from "./support/figures.ts";
import { FixedRateReader } from "./support/fixed-rate-reader.ts";
import { bareServer } from "./support/peers.ts";

const CHANGES = 500;
const MANY = 10_000;
const READS_PER_SECOND = 100;
const IDLE_SECONDS = 8;
const ROUNDS = 3;

/** Where the layers of a server are configured. */
interface Form {
  readonly name: string;
  /** Starts a server with this number of layers. */
  readonly start: (layers: number, upstream: string, directory: string) => Promise<TestServer>;
}

const FORMS: readonly Form[] = [
  {
    name: "YAML",
    start: (layers, upstream) => startServer({ configuration: yaml(layers, upstream) }),
  },
  {
    name: "geowebcache.xml",
    start(layers, upstream, directory) {
      writeFileSync(join(directory, "geowebcache.xml"), geowebcacheXml(layers, upstream));
      return startServer({ env: { NUTHATCH_GEOWEBCACHE: directory } });
    },
  },
];

/** Measures 500 layers that are made over HTTP one after the other, beside hits; then starts and lists of 10,000. */
export async function benchLayers(): Promise<void> {
  const upstream = await startUpstream();
  for (const form of FORMS) await changes(form, upstream.url);
  for (const form of FORMS) await many(form, upstream.url);
  await upstream.close();
}

async function withDirectory<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), "nuthatch-bench-layers-"));
  try {
    return await work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const changes = (form: Form, upstream: string): Promise<void> =>
  withDirectory(async (directory) => {
    const server = await form.start(1, upstream, directory);
    const bare = await bareServer({}, Buffer.alloc(300));
    const hit = "/xyz/ws:layer0/EPSG:900913/3/4/4.png";
    await (await fetch(server.url + hit)).arrayBuffer();
    const reader = new FixedRateReader(
      new Map([
        ["hits", () => ({ port: server.port, path: hit })],
        ["bare", () => ({ port: bare.port, path: "/" })],
      ]),
      READS_PER_SECOND,
    );
    const took = (): { hits: number; bare: number } => {
      const { byTarget } = reader.take();
      const p99 = (target: string): number => quantile(byTarget.get(target)?.ms ?? [], 0.99);
      return { hits: p99("hits"), bare: p99("bare") };
    };
    // The first rounds compile.
    for (let i = 0; i < 50; i++) await put(server, "warm", i, upstream);
    await pause(2_000);
    const ratios: { hits: number; bare: number }[] = [];
    const ms: number[] = [];
    const memory: number[] = [memoryMiB(server.pid)];
    for (let round = 0; round < ROUNDS; round++) {
      took();
      await pause(IDLE_SECONDS * 1_000);
      const idle = took();
      for (let i = 0; i < CHANGES; i++) ms.push(await put(server, `made${round}`, i, upstream));
      const busy = took();
      ratios.push({ hits: busy.hits / idle.hits, bare: busy.bare / idle.bare });
      for (let i = 0; i < CHANGES; i++) await remove(server, `made${round}`, i);
      memory.push(memoryMiB(server.pid));
    }
    const ratioOf = (target: "hits" | "bare"): string => median(ratios.map((one) => one[target])).toFixed(2);
    console.log(
      `${CHANGES} layers made over HTTP, ${form.name}: p50 ${median(ms).toFixed(1)} ms, p99 ${quantile(ms, 0.99).toFixed(1)}, at most ${Math.max(...ms).toFixed(1)}; p99 of hits meanwhile against idle ${ratioOf("hits")}, of a bare server ${ratioOf("bare")}; memory before and after ${ROUNDS} rounds of PUT and DELETE ${memory.map((mib) => mib.toFixed(0)).join(", ")} MiB`,
    );
    reader.close();
    bare.close();
    await server.close();
  });

const nameOf = (prefix: string, i: number): string => `ws:${prefix}-${i}`;
const addressOf = ({ url }: TestServer, name: string): string => `${url}/rest/layers/${encodeURIComponent(name)}.xml`;

async function put(server: TestServer, prefix: string, i: number, upstream: string): Promise<number> {
  const name = nameOf(prefix, i);
  const t0 = performance.now();
  const response = await fetch(addressOf(server, name), {
    method: "PUT",
    headers: { "Content-Type": "text/xml" },
    body: layerXml(name, upstream),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`PUT ${name}: ${response.status} ${text}`);
  return performance.now() - t0;
}

async function remove(server: TestServer, prefix: string, i: number): Promise<void> {
  const response = await fetch(addressOf(server, nameOf(prefix, i)), { method: "DELETE" });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`DELETE ${nameOf(prefix, i)}: ${response.status} ${text}`);
}

const many = (form: Form, upstream: string): Promise<void> =>
  withDirectory(async (directory) => {
    const wall: number[] = [];
    const cpu: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const t0 = performance.now();
      const server = await form.start(MANY, upstream, directory);
      while ((await fetch(`${server.url}/readyz`)).status !== 200) await pause(10);
      wall.push(performance.now() - t0);
      cpu.push(cpuSeconds(server.pid));
      if (round === ROUNDS - 1) await lists(form, server);
      await server.close();
    }
    console.log(
      `${MANY} layers, ${form.name}: ready after ${(median(wall) / 1_000).toFixed(2)} s (best ${(Math.min(...wall) / 1_000).toFixed(2)}), ${median(cpu).toFixed(2)} s CPU`,
    );
  });

async function lists(form: Form, server: TestServer): Promise<void> {
  const memory = memoryMiB(server.pid);
  const hit = "/xyz/ws:layer0/EPSG:900913/3/4/4.png";
  await (await fetch(server.url + hit)).arrayBuffer();
  const reader = new FixedRateReader(new Map([["hits", () => ({ port: server.port, path: hit })]]), READS_PER_SECOND);
  for (const path of [
    "/rest/layers.xml",
    "/service/wmts?REQUEST=GetCapabilities",
    "/service/wms?REQUEST=GetCapabilities&SERVICE=WMS&VERSION=1.1.1&TILED=true",
    "/service/tms/1.0.0",
  ]) {
    const rounds: Timing[] = [];
    reader.take();
    for (let round = 0; round < ROUNDS; round++) rounds.push(await timed(server.url + path));
    const hits = reader.take().byTarget.get("hits")?.ms ?? [];
    const of = (key: keyof Timing): number => median(rounds.map((one) => one[key]));
    console.log(
      `  ${form.name}, ${path}: first byte after ${of("firstMs").toFixed(0)} ms, ${(of("bytes") / 1e6).toFixed(1)} MB after ${of("totalMs").toFixed(0)} ms; a hit meanwhile takes at most ${Math.max(...hits).toFixed(0)} ms`,
    );
  }
  reader.close();
  console.log(
    `  ${form.name}: ${memory.toFixed(0)} MiB after the start, ${memoryMiB(server.pid).toFixed(0)} after the lists`,
  );
}

interface Timing {
  readonly firstMs: number;
  readonly totalMs: number;
  readonly bytes: number;
}

const timed = (url: string): Promise<Timing> =>
  new Promise((resolve, reject) => {
    const t0 = performance.now();
    get(url, (response) => {
      let firstMs = Number.NaN;
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        if (bytes === 0) firstMs = performance.now() - t0;
        bytes += chunk.byteLength;
      });
      response.on("error", reject);
      response.on("end", () => resolve({ firstMs, totalMs: performance.now() - t0, bytes }));
    }).on("error", reject);
  });

const yaml = (layers: number, upstream: string): string =>
  `layers:\n${Array.from(
    { length: layers },
    (_, i) => `  - name: ws:layer${i}
    title: Layer number ${i}
    source: { type: wms, url: ${JSON.stringify(upstream)}, layers: [layer${i}], transparent: true }
    gridSubsets: [{ gridSet: EPSG:900913 }, { gridSet: EPSG:4326, extent: [5, 45, 15, 55], zoomStop: 18 }]
    formats: [image/png, image/jpeg]
    metatile: [4, 4]
    parameterFilters: [{ type: string, key: STYLES, default: "", values: [a, b] }]
`,
  ).join("")}`;

const geowebcacheXml = (layers: number, upstream: string): string => `<?xml version="1.0" encoding="utf-8"?>
<gwcConfiguration xmlns="http://geowebcache.org/schema/1.27.0">
  <version>1.27.0</version>
  <backendTimeout>120</backendTimeout>
  <layers>
${Array.from({ length: layers }, (_, i) => layerXml(`ws:layer${i}`, upstream)).join("\n")}
  </layers>
</gwcConfiguration>
`;

const layerXml = (name: string, upstream: string): string => `    <wmsLayer>
      <name>${name}</name>
      <metaInformation><title>Layer ${name}</title></metaInformation>
      <mimeFormats><string>image/png</string><string>image/jpeg</string></mimeFormats>
      <gridSubsets>
        <gridSubset><gridSetName>EPSG:900913</gridSetName></gridSubset>
        <gridSubset><gridSetName>EPSG:4326</gridSetName><extent><coords><double>5</double><double>45</double><double>15</double><double>55</double></coords></extent><zoomStop>18</zoomStop></gridSubset>
      </gridSubsets>
      <metaWidthHeight><int>4</int><int>4</int></metaWidthHeight>
      <parameterFilters><stringParameterFilter><key>STYLES</key><defaultValue></defaultValue><values><string>a</string><string>b</string></values></stringParameterFilter></parameterFilters>
      <wmsUrl><string>${upstream.replaceAll("&", "&amp;")}</string></wmsUrl>
      <wmsLayers>${name.slice(3)}</wmsLayers>
      <transparent>true</transparent>
    </wmsLayer>`;
