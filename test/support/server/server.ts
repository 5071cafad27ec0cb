import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { severalNodes, startBalanced, TEST_NODES } from "../cluster/balanced.ts";
import { schemaOf, sharedPostgres } from "../postgres/postgres.ts";
import { removed } from "../removed.ts";
import { prefixOf, S3_OF_ALL } from "../s3/env.ts";
import { until } from "../until.ts";
import { PROGRAM } from "./program.ts";
import type { ServerOptions, TestServer } from "./test-server.ts";

export type { ServerOptions, TestServer } from "./test-server.ts";

/**
 * Starts the built program as its user would, with a separate directory and a free port. If `NUTHATCH_TEST_NODES` says
 * so, it is several nodes behind a balancer, unless the test makes a cluster itself.
 */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const isNode = /^cluster:/m.test(options.configuration ?? "");
  return severalNodes && !isNode ? startBalanced(options, TEST_NODES, startOne) : startOne(options);
}

async function startOne(options: ServerOptions): Promise<TestServer> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), "nuthatch-test-"));
  const env: Record<string, string> = {};
  for (const [key, value] of Object.entries(process.env))
    if (value !== undefined && !key.startsWith("NUTHATCH_")) env[key] = value;
  const own = { NUTHATCH_HOST: "127.0.0.1", NUTHATCH_PORT: "0", NUTHATCH_DATA_DIR: dataDir };
  Object.assign(env, own, withState(options, dataDir), options.env);
  if (options.configuration !== undefined) {
    const file = join(dataDir, "nuthatch.yaml");
    writeFileSync(file, withStore(options.configuration, dataDir));
    env["NUTHATCH_CONFIG"] = file;
  }
  const [program = "", ...args] = [...(options.under ?? []), process.execPath, options.program ?? PROGRAM, "serve"];
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let log = "";
  const url = await new Promise<string>((resolve, reject) => {
    let isListening = false;
    const look = (chunk: Buffer) => {
      log += chunk.toString();
      if (isListening) return;
      const found = /Nuthatch is listening on (http:\/\/\S+?)\/?\s/.exec(log);
      if (found?.[1] === undefined) return;
      isListening = true;
      resolve(found[1]);
    };
    child.stdout.on("data", look);
    child.stderr.on("data", look);
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}:\n${log}`)));
  });
  return running(child, url, dataDir, () => log, options);
}

/**
 * Keeps the state in PostgreSQL where `NUTHATCH_TEST_STATE` says so, in a schema for each data directory, unless the
 * test configures a state.
 */
function withState({ env = {}, configuration = "" }: ServerOptions, dataDir: string): Readonly<Record<string, string>> {
  const hasOwn = "NUTHATCH_STATE_TYPE" in env || /^state:/m.test(configuration);
  if (process.env["NUTHATCH_TEST_STATE"] !== "postgres" || hasOwn) return {};
  const postgres = sharedPostgres();
  const schema = schemaOf(dataDir);
  postgres.sql(`SET client_min_messages = warning; CREATE SCHEMA IF NOT EXISTS ${schema}`);
  const url = `${postgres.url("postgres")}&options=-c%20search_path%3D${schema}`;
  return { NUTHATCH_STATE_TYPE: "postgres", NUTHATCH_STATE_URL: url };
}

/**
 * Puts the tiles into S3 where `NUTHATCH_TEST_S3` names the address of a service with the account and the bucket of
 * `../s3/server.ts`: so any test of the server can run on it.
 */
function withStore(configuration: string, dataDir: string): string {
  const endpoint = S3_OF_ALL;
  if (endpoint === undefined || /^stores:/m.test(configuration)) return configuration;
  const account = "accessKeyId: nuthatch, secretAccessKey: nuthatch-secret";
  const place = `endpoint: ${JSON.stringify(endpoint)}, bucket: tiles, prefix: ${prefixOf(dataDir)}, pathStyle: true`;
  // At the end: messages and documents name lines.
  return `${configuration.trimEnd()}\nstores: [{ id: main, type: s3, ${place}, ${account} }]\n`;
}

function running(
  child: ChildProcess,
  url: string,
  dataDir: string,
  log: () => string,
  options: ServerOptions,
): TestServer {
  const ended = () => child.exitCode !== null || child.signalCode !== null;
  const kill = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (!ended()) {
      const exit = once(child, "exit");
      child.kill(signal);
      await exit;
    }
    return child.exitCode;
  };
  return {
    url,
    port: Number(new URL(url).port),
    dataDir,
    pid: child.pid ?? 0,
    log,
    kill,
    async restart(signal = "SIGKILL") {
      await kill(signal);
      return startOne({ ...options, dataDir });
    },
    async close() {
      await kill("SIGKILL");
      await removed(dataDir);
    },
  };
}

export type Row = readonly [processed: number, total: number, remaining: number, id: number, status: number];

export async function rows(server: TestServer, layer?: string): Promise<Row[]> {
  const path = layer === undefined ? "/rest/seed.json" : `/rest/seed/${encodeURIComponent(layer)}.json`;
  const answer: { "long-array-array": Row[] } = JSON.parse(await (await fetch(server.url + path)).text());
  return answer["long-array-array"];
}

export interface TilesJson {
  readonly total: number;
  readonly stored: number;
  readonly skipped: number;
  readonly failed: number;
  readonly unchanged?: number;
  readonly deleted?: number;
}

export interface JobJson {
  readonly id: number;
  readonly gridSet: string | null;
  readonly format: string | null;
  readonly parameters: Readonly<Record<string, string>> | null;
  readonly state: string;
  readonly outcome: string | null;
  readonly reason: string | null;
  readonly tasks: number[];
  readonly tiles: TilesJson;
  readonly errors: { class: string; count: number; message: string }[];
  readonly retries: number;
  readonly paused: boolean;
  readonly retryOf: number | null;
  readonly schedule: string | null;
  readonly requestedWith: number | null;
  readonly bytes: number;
  readonly secondsWorked: number;
  readonly tilesPerSecond: number | null;
  readonly timeLeft: { seconds: number; least: number; most: number | null; confidence: string } | null;
  readonly zooms?: { z: number; tiles: TilesJson; bytes: number }[];
}

export async function job(server: TestServer, id: number, waitSeconds = 0): Promise<JobJson> {
  const query = waitSeconds > 0 ? `?wait=${waitSeconds}` : "";
  return JSON.parse(await (await fetch(`${server.url}/api/v1/jobs/${id}${query}`)).text());
}

/** Posts a seed request and returns the id of its job. */
export async function seed(
  server: TestServer,
  layer: string,
  request: Readonly<Record<string, unknown>>,
): Promise<number> {
  const response = await fetch(`${server.url}/rest/seed/${encodeURIComponent(layer)}.json`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ seedRequest: { name: layer, ...request } }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`POST seed: ${response.status} ${text}`);
  return Number(response.headers.get("x-job-id"));
}

/** Returns a truncateLayer request of the wire format. */
export const truncateLayerXml = (layer: string): string =>
  `<truncateLayer><layerName>${layer}</layerName></truncateLayer>`;

/** Truncates a layer with a truncateLayer request. */
export const massTruncate = (server: TestServer, layer: string): Promise<Response> =>
  fetch(`${server.url}/rest/masstruncate`, {
    method: "POST",
    headers: { "Content-Type": "text/xml" },
    body: truncateLayerXml(layer),
  });

export const ended = (server: TestServer, id: number, deadlineMs?: number): Promise<JobJson> =>
  until(
    `job ${id} has ended`,
    async () => {
      const now = await job(server, id, 10);
      return now.state === "done" || now.state === "aborted" ? now : undefined;
    },
    deadlineMs,
    server,
  );

export interface UsageJson {
  readonly total: { readonly tiles: number; readonly bytes: number };
  readonly layers: readonly {
    readonly layer: string;
    readonly tiles: number;
    readonly bytes: number;
    readonly quota: number | null;
    readonly bytesOnDisk: number;
    readonly complete: boolean;
  }[];
  readonly bytesOnDisk: number;
  readonly quota: number | null;
  readonly quotaCount: "allocated" | "content";
  readonly disk: { readonly freeInodes: number | null };
  readonly enforcement: { readonly evictedTiles: number; readonly notStored: number; readonly cleanUps: number };
  readonly adoption: { readonly pyramidsLeft: number };
  readonly tileSets?: readonly {
    readonly layer: string;
    readonly gridSet: string;
    readonly format: string;
    readonly parametersId: string;
    readonly tiles: number;
    readonly bytes: number;
    readonly zooms: readonly {
      readonly z: number;
      readonly tiles: number;
      readonly bytes: number;
      readonly bytesOnDisk: number;
    }[];
  }[];
}

export async function usage(server: TestServer, query = ""): Promise<UsageJson> {
  return JSON.parse(await (await fetch(`${server.url}/api/v1/usage${query}`)).text());
}

/** Waits until no render is running: the other tiles of a metatile follow the answer to the user who missed one. */
export const rendered = (server: TestServer): Promise<true> =>
  until("nothing is rendered", async () => {
    const answer = await (await fetch(`${server.url}/api/v1/upstreams`)).text();
    return /"inUse":[1-9]/.test(answer) ? undefined : true;
  });

/** Changes the disk quota by a partial PUT. */
export async function putQuota(server: TestServer, change: Readonly<Record<string, unknown>>): Promise<void> {
  const response = await fetch(`${server.url}/rest/diskquota.json`, {
    method: "PUT",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ gwcQuotaConfiguration: change }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`PUT diskquota: ${response.status} ${text}`);
}
