import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Chance, chanceOf } from "./chance.ts";
import { Floors } from "./floors.ts";
import { type MarkedMap, startMarkedMap } from "./marked-map.ts";
import { compareAll } from "./walk-compare.ts";
import { WalkOperator } from "./walk-operator.ts";
import { type Epochs, WalkReader } from "./walk-reader.ts";
import { WalkRecord } from "./walk-record.ts";
import { FIRST_SETTINGS, type LayerSettings, STORED, WalkServer } from "./walk-server.ts";
import { type Tile, WALK_LAYERS } from "./walk-tiles.ts";

export interface WalkOptions {
  readonly steps: number;
  readonly seed: number;
  readonly tell: (line: string) => void;
}

/** So many steps lie between two comparisons. */
const STRETCH = 200;
/** Number of open requests. */
const MOST_AT_ONCE = 6;
const MOST_JOBS = 14;

/**
 * Random users and operators on a running server that is killed, restarted and reloaded, with faults of the map server
 * and of the clock. The walk records every answer, and no later answer may contradict one. After each stretch of steps
 * store, ledger, usage, task list and history must agree.
 * @throws Error with the seed, the step, the expected and the actual value, and the last lines of history and log
 */
export async function walk({ steps, seed, tell }: WalkOptions): Promise<void> {
  const chance = chanceOf(seed);
  const map = await startMarkedMap();
  const server = await WalkServer.start(map.upstream.url, 1 + chance.below(2));
  if (!server.clock.canMove) tell("WARNING: no C compiler (cc), or no Linux: the clock of the server is NOT moved");
  const one = new Walk(server, map, chance);
  try {
    for (let step = 1; step <= steps && one.record.problems.length === 0; step++) {
      one.record.step = step;
      await one.step();
      if (step % STRETCH !== 0 && step !== steps) continue;
      await one.compare();
      if (step % (STRETCH * 5) === 0 || step === steps) tell(`step ${step}: ${one.figures()}`);
    }
    if (one.record.problems.length > 0) {
      const history = join(tmpdir(), `walk-${seed}.txt`);
      writeFileSync(history, one.record.last(20_000));
      const log = server.now.log().trimEnd().split("\n").slice(-25).join("\n");
      throw new Error(
        `seed ${seed}\n${one.record.problems.slice(0, 8).join("\n")}\n\nthe end of the history (${history}):\n${one.record.last(60)}\n\nthe server's log ends so:\n${log}`,
      );
    }
  } finally {
    await one.drain();
    await server.close();
    await map.upstream.close();
  }
}

class Walk {
  readonly record = new WalkRecord();
  readonly #server: WalkServer;
  readonly #map: MarkedMap;
  readonly #chance: Chance;
  readonly #epochs: Epochs = { restarts: 0, reloadsSent: 0, reloadsAnswered: 0 };
  readonly #floors = new Floors<Tile>();
  readonly #reader: WalkReader;
  readonly #operator: WalkOperator;
  readonly #joined = new Set<Promise<void>>();
  readonly #counts = new Map<string, number>();
  #servingKilledMs = Number.NEGATIVE_INFINITY;

  constructor(server: WalkServer, map: MarkedMap, chance: Chance) {
    this.#server = server;
    this.#map = map;
    this.#chance = chance;
    this.#reader = new WalkReader(server, map, this.#floors, this.record, this.#epochs);
    this.#operator = new WalkOperator(server, map, this.#floors, this.record, this.#epochs);
  }

  figures(): string {
    const reported = (counts: ReadonlyMap<string, number>): string =>
      [...counts].map(([k, n]) => `${n} ${k}`).join(", ");
    return `${reported(this.#counts)}; reads: ${reported(this.#reader.results)}; ${this.#operator.account.size} jobs`;
  }

  /** Something is begun; when much is under way one of it is waited for. */
  async step(): Promise<void> {
    const { below } = this.#chance;
    const kinds: readonly (readonly [number, string, () => Promise<void>])[] = [
      [560, "reads", () => this.#read()],
      [40, "maps", () => this.#reader.readMap({ ...this.#reader.pick(this.#chance), layer: "alpha" })],
      [90, "seeds", () => this.#seed()],
      [60, "range truncations", () => this.#operator.truncateRange(this.#chance)],
      [45, "mass truncations", () => this.#operator.truncate(this.#chance)],
      [10, "soft truncations", () => this.#operator.truncateSoftly(this.#chance)],
      [40, "undos", () => this.#operator.undo(this.#chance)],
      [80, "acts on jobs", () => this.#operator.act(this.#chance)],
      [20, "quotas", () => this.#operator.putQuota(this.#chance)],
      [15, "reloads", () => this.#reload()],
      [15, "moods", () => this.#changeMood()],
      [6, "renderers killed", () => this.#killChild()],
      [6, "clock steps", async () => this.#moveClock()],
    ];
    // Restarts take longest, so they are few, and no other operation begins during a restart.
    if (below(90) === 0) return this.#restart();
    let at = below(kinds.reduce((sum, [weight]) => sum + weight, 0));
    for (const [weight, name, run] of kinds) {
      at -= weight;
      if (at >= 0) continue;
      this.#count(name);
      this.#fly(run);
      break;
    }
    while (this.#joined.size >= MOST_AT_ONCE) await Promise.race(this.#joined);
    if (this.#operator.account.open.size > MOST_JOBS) await this.#operator.look();
    if (this.#operator.account.open.size > MOST_JOBS) await this.#finishJobs();
  }

  #count(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  #fly(run: () => Promise<void>): void {
    const inFlightRender = run()
      .catch((error: unknown) =>
        this.record.problem(error instanceof Error ? (error.stack ?? error.message) : String(error)),
      )
      .finally(() => this.#joined.delete(inFlightRender));
    this.#joined.add(inFlightRender);
  }

  async drain(): Promise<void> {
    while (this.#joined.size > 0) await Promise.all(this.#joined);
  }

  async #read(): Promise<void> {
    const tiles = Array.from({ length: 3 }, () => this.#reader.pick(this.#chance));
    await Promise.all(tiles.map((tile) => this.#reader.read(tile, this.#chance)));
  }

  #seed(): Promise<void> {
    return this.#operator.seed(this.#chance);
  }

  /** Waits for most open requests, so that their list stays bounded. */
  async #finishJobs(): Promise<void> {
    await this.drain();
    await this.#become("well");
    await this.#operator.resumeAll();
    for (const id of [...this.#operator.account.open.keys()].slice(0, MOST_JOBS / 2))
      await this.#operator.get(`/api/v1/jobs/${id}?wait=1`).catch(() => undefined);
    await this.#operator.look();
    if (this.#operator.account.open.size <= MOST_JOBS) return;
    for (const job of this.#operator.account.open.values()) job.isKilled = undefined;
    await this.#operator.send("POST", "/rest/seed", "kill_all=all", [200]);
    await this.#operator.look();
  }

  async #become(mood: "well" | "slow" | "failing" | "down"): Promise<void> {
    this.record.note(`the map server is ${mood}`);
    this.record.upstreamIsOut();
    // The server knows that the map server is back when a render has shown it. Until then it refuses renders.
    const isBack = mood === "well" || mood === "slow";
    await this.#map.become(mood, () => {
      if (isBack) this.record.upstreamIsBack();
    });
  }

  #changeMood(): Promise<void> {
    return this.#become(
      this.#map.mood() === "well" ? this.#chance.pick(["slow", "slow", "failing", "down"] as const) : "well",
    );
  }

  async #reload(): Promise<void> {
    const { below, pick } = this.#chance;
    const { settings } = this.#server;
    const changing = WALK_LAYERS.filter((one) => one !== STORED);
    const away = changing.filter((one) => !settings[one].isThere);
    const name = pick(away.length > 0 && below(3) > 0 ? away : changing);
    const before = settings[name];
    const first = FIRST_SETTINGS[name];
    const changes: readonly (() => LayerSettings)[] = [
      () => ({ ...before, isThere: !before.isThere }),
      () => ({ ...before, connections: 1 + below(6) }),
      () => ({
        ...before,
        metatile: pick([
          [1, 1],
          [2, 2],
          [3, 5],
          [4, 4],
        ] as const),
      }),
      () => ({ ...before, styles: before.styles.length < first.styles.length ? first.styles : first.styles.slice(1) }),
    ];
    const after = before.isThere ? pick(changes)() : { ...before, isThere: true };
    this.#epochs.reloadsSent++;
    if (!after.isThere) {
      this.#operator.forgetQuota();
      for (const job of this.#operator.account.open.values()) if (job.asked.layer === name) job.isKilled = undefined;
    }
    this.#server.configure({ ...settings, [name]: after });
    this.record.note(`${name} becomes ${JSON.stringify(after)}`);
    // A kill of the HTTP worker that has the request leaves open whether the server has it too: it is sent again.
    const { restarts } = this.#epochs;
    const reload = () => this.#operator.send("POST", "/rest/reload", "reload_configuration=1", [200]);
    while ((await reload()) === undefined && this.#epochs.restarts === restarts);
    this.#epochs.reloadsAnswered++;
  }

  async #killChild(): Promise<void> {
    const serving = this.#server.children("serving");
    // When all of them are gone the port is: another program may take it before they are back.
    const isServing =
      this.#chance.below(3) === 0 && serving.length > 1 && performance.now() > this.#servingKilledMs + 10_000;
    const children = isServing ? serving : this.#server.children("renderers");
    if (children.length === 0) return;
    if (isServing) this.#servingKilledMs = performance.now();
    const pid = this.#chance.pick(children);
    this.record.disturbed();
    this.record.note(`SIGKILL to ${pid}, one of ${children}`);
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }

  #moveClock(): void {
    const seconds = this.#chance.pick([0, 0, -3_600, 3_600, -5, 90]);
    this.record.note(`the clock is ${seconds} s off`);
    this.#server.clock.move(seconds);
  }

  async #restart(): Promise<void> {
    const { below } = this.#chance;
    const signal = below(4) === 0 ? "SIGTERM" : "SIGKILL";
    this.#count(signal);
    for (let n = below(3); n > 0; n--) this.#fly(() => this.#read());
    if (below(2) === 0) await new Promise((resolve) => setTimeout(resolve, below(40)));
    this.#epochs.restarts++;
    this.record.disturbed();
    this.record.note(signal);
    this.record.isRestarting = true;
    const code = await this.#server.restart(signal, 1 + below(2));
    if (signal === "SIGTERM" && code !== 0) this.record.problem(`a SIGTERM: expected to end with 0, got ${code}`);
    await this.drain();
    this.record.isRestarting = false;
    this.record.note("started again");
    this.#epochs.restarts++;
    this.#epochs.reloadsSent++;
    this.#epochs.reloadsAnswered = this.#epochs.reloadsSent;
    this.#operator.account.restarted();
    await this.#operator.discover();
    await this.#operator.look();
  }

  async compare(): Promise<void> {
    await this.drain();
    await this.#become("well");
    this.record.note("compared");
    const parts = { server: this.#server, operator: this.#operator, reader: this.#reader, record: this.record };
    await compareAll(parts);
    // No tile was requested since, so the server may not have noticed that an upstream is back.
    this.record.disturbed();
  }
}
