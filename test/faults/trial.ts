import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROGRAM } from "../support/server/program.ts";
import type { Ended } from "../support/server/run-program.ts";
import { type ServerOptions, startServer, type TestServer } from "../support/server/server.ts";
import { until } from "../support/until.ts";
import { type DatedMap, versionOf } from "../support/upstream/dated-map.ts";
import type { FaultControl } from "./control.ts";
import type { Place, Scan } from "./places.ts";

/** An answer of the server. Status 0: the connection was refused or lost. */
export interface Answer {
  readonly request: string;
  readonly status: number;
  readonly text: string;
  /** The cookie that the answer sets. */
  readonly cookie: string;
}

export interface JobView {
  readonly id: number;
  readonly layer: string;
  readonly type: string;
  readonly state: string;
  readonly outcome: string | null;
  readonly paused: boolean;
  readonly tiles: { readonly total: number; readonly stored: number; readonly failed: number };
}

/** The grid set of all scenarios. */
export const GRID = "EPSG:900913";
/** The last level that scenarios store, and the oracle reads. */
export const LAST_ZOOM = 2;

/** One run of a scenario: its server, and what was answered so far. */
export class Trial {
  readonly control: FaultControl;
  readonly map: DatedMap;
  readonly dataDir: string;
  /** Other directories that the trial owns. */
  readonly directory: string;
  readonly answers: Answer[] = [];
  /** The least version of the map that a tile of a layer may have: set when a truncation is answered. */
  readonly floors = new Map<string, number>();
  /** Jobs whose request was answered with success. */
  readonly accepted = new Set<number>();
  /** Whether the scenario has removed the state database. */
  hasLostState = false;
  /** Headers of all requests, such as credentials. */
  headers: Readonly<Record<string, string>> = {};
  /** The logs of the servers so far. */
  log = "";
  #options: ServerOptions;
  #server: TestServer | undefined;
  #ending = new AbortController();

  readonly #place: Place;

  constructor(
    parts: { readonly control: FaultControl; readonly map: DatedMap; readonly place: Place },
    directory: string,
    options: ServerOptions,
  ) {
    this.control = parts.control;
    this.map = parts.map;
    this.#place = parts.place;
    this.directory = directory;
    this.dataDir = join(directory, "data");
    this.makeDataDir();
    const placed = parts.place.options(options, directory);
    this.#options = {
      ...placed,
      env: { ...placed.env, ...this.control.env },
      dataDir: this.dataDir,
      under: ["setsid"],
    };
  }

  /** Counts the tiles of the store. */
  async scan(): Promise<Scan> {
    return this.#place.scan(this.directory);
  }

  get server(): TestServer {
    if (this.#server === undefined) throw new Error("the server has not started");
    return this.#server;
  }

  /** Whether there is no server that could answer. */
  get isOver(): boolean {
    return this.#ending.signal.aborted;
  }

  /** Starts the server. Rejects if it ends before it listens. */
  async start(): Promise<void> {
    this.#ending = new AbortController();
    this.#server = await startServer(this.#options);
  }

  makeDataDir(): void {
    mkdirSync(this.dataDir, { mode: 0o700 });
  }

  /** Starts the server. Nobody can answer if it ends before it listens, as a fault may cause. */
  async started(): Promise<void> {
    try {
      await this.start();
    } catch (error) {
      this.log += String(error);
      this.giveUp();
    }
  }

  /** Changes the configuration of the next starts. Only for a server whose state and tiles are in its data directory. */
  configure(configuration: string): void {
    this.#options = { ...this.#options, configuration };
  }

  /** Ends all waiting for answers. */
  giveUp(): void {
    this.#ending.abort();
  }

  /** Kills all processes of the server, and the process in which an operation hangs. */
  async killAll(): Promise<void> {
    for (const group of [this.#server?.pid, groupOf(this.control.hit?.pid)]) {
      if (group === undefined) continue;
      try {
        process.kill(-group, "SIGKILL");
      } catch {
        // All of them have ended.
      }
    }
    await this.#end("SIGKILL");
  }

  /** Runs a command of the program, whose operations count too. */
  command(args: readonly string[]): Promise<Ended> {
    const env = { PATH: process.env["PATH"], HOME: this.directory, NUTHATCH_URL: this.server.url, ...this.control.env };
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      env,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const ended = { stdout: "", stderr: "" };
    child.stdout.on("data", (chunk: Buffer) => {
      ended.stdout += chunk.toString();
    });
    child.stderr.on("data", (chunk: Buffer) => {
      ended.stderr += chunk.toString();
    });
    const end = (): void => void child.kill("SIGKILL");
    this.#ending.signal.addEventListener("abort", end, { once: true });
    return new Promise((resolve) => child.on("close", (code) => resolve({ code, ...ended })));
  }

  /** Returns the exit code of a server that was told to end. */
  async stop(): Promise<number | null> {
    return this.#end("SIGTERM");
  }

  async #end(signal: "SIGKILL" | "SIGTERM"): Promise<number | null> {
    const server = this.#server;
    if (server === undefined) return null;
    const code = await server.kill(signal);
    this.#server = undefined;
    this.log += server.log();
    this.giveUp();
    return code;
  }

  async close(): Promise<void> {
    await this.killAll();
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }

  // ---- requests

  async send(method: string, path: string, body?: string | object, headers = this.headers): Promise<Answer> {
    const { answer } = await this.#fetch(method, path, body, headers);
    this.answers.push(answer);
    return answer;
  }

  async #fetch(
    method: string,
    path: string,
    body: string | object | undefined,
    headers: Readonly<Record<string, string>>,
  ) {
    const request = `${method} ${path}`;
    const lost = { request, status: 0, text: "", cookie: "" };
    if (this.isOver) return { answer: lost, bytes: new Uint8Array() };
    try {
      const response = await fetch(this.server.url + path, {
        method,
        headers,
        signal: this.#ending.signal,
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const bytes = new Uint8Array(await response.arrayBuffer());
      const text = Buffer.from(bytes).toString("utf8");
      const [cookie = ""] = response.headers.getSetCookie();
      return { answer: { request, status: response.status, text, cookie: cookie.split(";")[0] ?? "" }, bytes };
    } catch {
      if (!isAlive(this.#server?.pid)) this.giveUp();
      return { answer: lost, bytes: new Uint8Array() };
    }
  }

  /** Reads a tile. Undefined: it was not answered with a picture. */
  async versionAt(layer: string, z: number, x: number, y: number): Promise<number | undefined> {
    const { answer, bytes } = await this.#fetch("GET", `/xyz/${layer}/${z}/${x}/${y}.png`, undefined, this.headers);
    this.answers.push({ ...answer, text: answer.status === 200 ? "" : answer.text });
    return answer.status === 200 ? versionOf(bytes) : undefined;
  }

  /** Returns the document of a GET; undefined without an answer. Faults of the test itself are thrown. */
  async get<T>(path: string, headers = this.headers): Promise<T | undefined> {
    const { status, text } = await this.send("GET", path, undefined, headers);
    return status === 200 ? JSON.parse(text) : undefined;
  }

  /** Requests a job of the world's first levels. Returns its id if the request was answered. */
  async job(request: Readonly<Record<string, unknown>>): Promise<number | undefined> {
    const whole = { gridSet: GRID, zoomStart: 0, zoomStop: LAST_ZOOM, format: "image/png", threadCount: 1, ...request };
    const { status, text } = await this.send("POST", "/api/v1/jobs", whole);
    if (status !== 201) return undefined;
    const { id, jobs }: { id?: number; jobs?: readonly { id: number }[] } = JSON.parse(text);
    for (const one of jobs ?? [{ id: id ?? 0 }]) this.accepted.add(one.id);
    return id ?? jobs?.[0]?.id;
  }

  /** Waits until a job has ended, or nobody can answer. */
  async ended(id: number | undefined): Promise<JobView | undefined> {
    if (id === undefined) return undefined;
    return until<JobView | "over">(
      `job ${id} has ended`,
      async () => {
        const view = await this.get<JobView>(`/api/v1/jobs/${id}?wait=5`);
        if (this.isOver) return "over";
        return view !== undefined && (view.state === "done" || view.state === "aborted") ? view : undefined;
      },
      60_000,
      this.#server,
    ).then((found) => (found === "over" ? undefined : found));
  }

  /** Waits for a condition, or until nobody can answer. */
  async when(what: string, isSo: () => Promise<boolean>): Promise<void> {
    await until(what, async () => (this.isOver || (await isSo()) ? true : undefined), 60_000, this.#server);
  }

  /** Stores the first levels of a layer. The server must be in order. */
  async seeded(layer: string, more: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const view = await this.ended(await this.job({ layer, type: "seed", ...more }));
    if (view?.outcome !== "done")
      throw new Error(`the seed of ${layer} failed: ${JSON.stringify(view)}\n${this.server.log()}`);
  }

  /** Truncates after the map has changed, and notes which tiles may be read from then on. */
  async truncating(layer: string, request: () => Promise<Answer>): Promise<Answer> {
    const version = ++this.map.version;
    const answer = await request();
    if (answer.status >= 200 && answer.status < 300) this.floors.set(layer, version);
    return answer;
  }
}

export function isAlive(pid: number | undefined): boolean {
  return pid !== undefined && existsSync(`/proc/${pid}/exe`);
}

/** The process group of a process; undefined: it has ended. */
function groupOf(pid: number | undefined): number | undefined {
  if (pid === undefined) return undefined;
  try {
    // proc(5), `/proc/pid/stat`: the name in brackets may contain anything.
    return Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ")[2]);
  } catch {
    return undefined;
  }
}

export const newDirectory = (): string => mkdtempSync(join(tmpdir(), "nuthatch-fault-"));
