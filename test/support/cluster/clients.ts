import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { Call, JobState, Operation } from "../jobs/client-history.ts";
import type { TruncationJson } from "../jobs/truncations.ts";
import { random } from "../random.ts";
import type { JobJson, TestServer, UsageJson } from "../server/server.ts";
import { until } from "../until.ts";
import { type DatedMap, versionOf } from "../upstream/dated-map.ts";

/** Layer `a` is truncated whole, `r` in a range, and `b` has a quota. */
export const LAYERS = ["a", "r", "b"] as const;
/** The range of `r` that is truncated: the western half of these levels. */
export const RANGE = {
  zoomStart: 3,
  zoomStop: 4,
  bounds: { west: -20_037_508, south: -20_037_508, north: 20_037_508 },
};
const ALL_ZOOMS = { gridSetId: "EPSG:900913", zoomStart: 0, zoomStop: 4 };
const CALL_MS = 20_000;

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** Returns the nodes that run, by their names. */
export type Nodes = () => readonly (readonly [name: string, node: TestServer])[];

type Changing<T> = { -readonly [K in keyof T]: T[K] };

/** Clients of several nodes, which call any of them and record each call. */
export class ClusterClients {
  /** All calls; one without an end may be under way. */
  readonly calls: Call[] = [];
  readonly counts = { tiles: 0, refused: 0, unanswered: 0, truncated: 0, ranges: 0, undone: 0, accepted: 0 };
  /** The highest usage of layer `b` that a node has reported. */
  mostBytes = 0;
  readonly #map: DatedMap;
  readonly #nodes: Nodes;
  readonly #random: () => number;

  constructor(map: DatedMap, nodes: Nodes, seed: number) {
    this.#map = map;
    this.#nodes = nodes;
    this.#random = random(seed);
  }

  below(n: number): number {
    return Math.floor(this.#random() * n);
  }

  /** The ids of the accepted jobs of a layer. */
  readonly accepted = new Map<string, number[]>(LAYERS.map((layer) => [layer, []]));

  /** Runs clients until the signal. Their faults fail the test, but an absent node is not a fault. */
  async work(over: AbortSignal): Promise<void> {
    const loops = [
      this.#loop("operator", over, 500, (client) => this.#operate(client)),
      this.#loop("operator of ranges", over, 500, (client) => this.#truncateRange(client, over)),
      this.#loop("observer", over, 300, (client) => this.#observe(client)),
      ...[1, 2, 3].map((n) => this.#loop(`reader ${n}`, over, 300, (client) => this.#read(client, "a", 4))),
      this.#loop("reader of ranges", over, 300, (client) => this.#read(client, "r", 4)),
      this.#loop("reader under the quota", over, 300, (client) => this.#read(client, "b", 6)),
    ];
    await Promise.all(loops);
  }

  /**
   * Calls again and again. @param pauseMs the longest pause: without one the clients would take most of the processors
   */
  async #loop(
    client: string,
    over: AbortSignal,
    pauseMs: number,
    once: (client: string) => Promise<void>,
  ): Promise<void> {
    while (!over.aborted) {
      await once(client);
      await sleep(this.below(pauseMs));
    }
  }

  #node(): readonly [string, TestServer] {
    const all = this.#nodes();
    return all[this.below(all.length)] ?? expect.fail("there is a node");
  }

  /**
   * Calls a node and records the call. `known`: the facts of the call without an answer. `decode`: reads the answer;
   * undefined: no facts, as for a node that is away.
   */
  async #call(
    client: string,
    known: Operation,
    path: string,
    init: RequestInit,
    decode: (answer: Answer) => Operation | undefined | Promise<Operation | undefined>,
  ): Promise<Operation | undefined> {
    const [name, { url }] = this.#node();
    const call: Changing<Call> = {
      client,
      node: name,
      startMs: performance.now(),
      endMs: undefined,
      operation: known,
    };
    this.calls.push(call);
    try {
      const response = await fetch(url + path, { ...init, signal: AbortSignal.timeout(CALL_MS) });
      const body = new Uint8Array(await response.arrayBuffer());
      const endMs = performance.now();
      const reported = await decode({ status: response.status, headers: response.headers, body });
      if (reported === undefined) {
        this.counts.refused++;
        return undefined;
      }
      call.operation = reported;
      call.endMs = endMs;
      return reported;
    } catch {
      // The node has ended, or is stopped: the request may have been carried out.
      this.counts.unanswered++;
      return undefined;
    }
  }

  async #operate(client: string): Promise<void> {
    const states = await this.#list(client, "a");
    if (states === undefined) return;
    switch (this.below(5)) {
      case 0:
      case 1: {
        const version = ++this.#map.version;
        const known = { kind: "truncate", scope: "a", version } as const;
        const body = JSON.stringify({ layer: "a", type: "truncateLayer" });
        const reported = await this.#call(
          client,
          { ...known, id: undefined },
          "/api/v1/truncations",
          { method: "POST", body },
          (answer) => (answer.status === 201 ? { ...known, id: jsonOf<TruncationJson>(answer).id } : undefined),
        );
        if (reported !== undefined) this.counts.truncated++;
        return;
      }
      case 2: {
        const id = [...states].filter(([, state]) => state === "kept").map(([one]) => one);
        const last = Math.max(0, ...id);
        if (last === 0) return;
        const known = { kind: "undo", scope: "a", id: last } as const;
        const reported = await this.#call(
          client,
          { ...known, isDone: undefined },
          `/api/v1/truncations/${last}/undo`,
          { method: "POST" },
          ({ status }) => (status === 200 || status === 409 ? { ...known, isDone: status === 200 } : undefined),
        );
        if (reported?.kind === "undo" && reported.isDone === true) this.counts.undone++;
        return;
      }
      case 3:
        await this.#seed(client, this.below(2) === 0 ? "a" : "b", { ...ALL_ZOOMS, threadCount: 2 });
    }
  }

  async #list(client: string, scope: string): Promise<ReadonlyMap<number, string> | undefined> {
    const reported = await this.#call(
      client,
      { kind: "list", scope, states: new Map() },
      `/api/v1/truncations?layer=${scope}&limit=1000`,
      {},
      (answer) => {
        if (answer.status !== 200) return undefined;
        const { truncations } = jsonOf<{ truncations: readonly TruncationJson[] }>(answer);
        return { kind: "list", scope, states: new Map(truncations.map(({ id, state }) => [id, state])) };
      },
    );
    return reported?.kind === "list" ? reported.states : undefined;
  }

  /** Posts a seed request. Returns the id of its job. */
  async #seed(client: string, layer: string, request: Readonly<Record<string, unknown>>): Promise<number | undefined> {
    const reported = await this.#call(
      client,
      { kind: "seed", id: undefined },
      `/rest/seed/${layer}.json`,
      { method: "POST", body: JSON.stringify({ seedRequest: { name: layer, ...request } }) },
      ({ status, headers }) => (status === 200 ? { kind: "seed", id: Number(headers.get("x-job-id")) } : undefined),
    );
    if (reported?.kind !== "seed" || reported.id === undefined) return undefined;
    this.accepted.get(layer)?.push(reported.id);
    this.counts.accepted++;
    return reported.id;
  }

  /** Fills the range, and truncates it by a job: it is truncated when the job is seen done. */
  async #truncateRange(client: string, over: AbortSignal): Promise<void> {
    if (this.below(3) === 0) {
      await this.#seed(client, "r", { ...ALL_ZOOMS, threadCount: 2 });
      return;
    }
    const version = ++this.#map.version;
    const startMs = performance.now();
    const { bounds, ...zooms } = RANGE;
    const { west, south, north } = bounds;
    const id = await this.#seed(client, "r", {
      type: "truncate",
      gridSetId: "EPSG:900913",
      ...zooms,
      bounds: { coords: { double: [west, south, 0, north] } },
    });
    if (id === undefined) return;
    for (let state: JobState = "pending"; state !== "done"; ) {
      if (over.aborted || state === "aborted") return;
      await sleep(50);
      state = (await this.#job(client, id)) ?? "pending";
    }
    const operation: Operation = { kind: "truncate", scope: "r", version, id: undefined };
    this.calls.push({ client, node: "any", startMs, endMs: performance.now(), operation });
    this.counts.ranges++;
  }

  async #job(client: string, id: number): Promise<JobState | undefined> {
    const reported = await this.#call(
      client,
      { kind: "job", id, state: "pending", counts: "" },
      `/api/v1/jobs/${id}`,
      {},
      (answer) =>
        answer.status === 200
          ? jobCall(jsonOf<JobJson>(answer))
          : answer.status === 404
            ? { kind: "job", id, state: "missing", counts: "" }
            : undefined,
    );
    return reported?.kind === "job" ? reported.state : undefined;
  }

  /** Reads a tile of a layer; of `r` one in the range that is truncated. */
  async #read(client: string, layer: "a" | "r" | "b", zoomStop: number): Promise<void> {
    const z = layer === "r" ? RANGE.zoomStart + this.below(2) : this.below(zoomStop + 1);
    const [x, y] = [this.below(layer === "r" ? 2 ** (z - 1) : 2 ** z), this.below(2 ** z)];
    const place = `${layer}/${z}/${x}/${y}`;
    const reported = await this.#call(
      client,
      { kind: "read", scope: layer, place, version: undefined },
      `/xyz/${place}.png`,
      {},
      async ({ status, body }) =>
        status === 200 ? { kind: "read", scope: layer, place, version: await versionOf(body) } : undefined,
    );
    if (reported !== undefined) this.counts.tiles++;
  }

  /** Reads some jobs and the usage. */
  async #observe(client: string): Promise<void> {
    const all = [...this.accepted.values()].flat();
    const id = all[this.below(all.length)];
    if (id !== undefined) await this.#job(client, id);
    const [, { url }] = this.#node();
    try {
      const response = await fetch(`${url}/api/v1/usage`, { signal: AbortSignal.timeout(CALL_MS) });
      if (response.status === 200) {
        const { layers }: UsageJson = JSON.parse(await response.text());
        this.mostBytes = Math.max(this.mostBytes, layers.find(({ layer }) => layer === "b")?.bytes ?? 0);
      }
    } catch {
      // The node has gone, or is stopped.
    }
  }

  /** Waits until some more tiles were read, and a truncation or a job was answered. */
  async progress(event: string, tiles: number): Promise<void> {
    const { counts } = this;
    const answers = (): number => counts.truncated + counts.undone + counts.accepted;
    const [tilesNow, answersNow] = [counts.tiles, answers()];
    await until(
      `calls are answered again after the ${event}`,
      async () => (counts.tiles >= tilesNow + tiles && answers() > answersNow ? true : undefined),
      180_000,
      this.#nodes()[0]?.[1],
    );
  }

  /** Records the epoch of the lead, which the table of the lead has. */
  epoch(startMs: number, epoch: number): void {
    const operation: Operation = { kind: "epoch", epoch };
    this.calls.push({ client: "table", node: "database", startMs, endMs: performance.now(), operation });
  }

  /** Reads every tile on every node: all of layer `a`, and the range of `r` that is truncated. */
  async readAll(): Promise<void> {
    for (let z = 0; z <= ALL_ZOOMS.zoomStop; z++)
      for (let x = 0; x < 2 ** z; x++)
        for (let y = 0; y < 2 ** z; y++) {
          await this.#readOnAll(`a/${z}/${x}/${y}`);
          if (z >= RANGE.zoomStart && x < 2 ** (z - 1)) await this.#readOnAll(`r/${z}/${x}/${y}`);
        }
  }

  async #readOnAll(place: string): Promise<void> {
    const scope = place.slice(0, 1);
    for (const [node, server] of this.#nodes())
      await until(
        `${place} is served by ${node}`,
        async () => {
          const startMs = performance.now();
          const response = await fetch(`${server.url}/xyz/${place}.png`);
          const body = new Uint8Array(await response.arrayBuffer());
          if (response.status !== 200) return undefined;
          const operation: Operation = { kind: "read", scope, place, version: await versionOf(body) };
          this.calls.push({ client: "last reader", node, startMs, endMs: performance.now(), operation });
          return true;
        },
        60_000,
        server,
      );
  }
}

const jobCall = ({ id, state, tiles }: JobJson): Operation => ({
  kind: "job",
  id,
  state: state === "running" || state === "done" || state === "aborted" ? state : "pending",
  counts: JSON.stringify(tiles),
});

function jsonOf<T>({ body }: Answer): T {
  const parsed: T = JSON.parse(Buffer.from(body).toString("utf8"));
  return parsed;
}
