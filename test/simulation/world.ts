import type { Configuration } from "../../src/configuration/configuration.ts";
import { chanceOf } from "../soak/chance.ts";
import { SimulatedDatabase } from "./database.ts";
import { SimulatedDisk } from "./disk.ts";
import { Model, textOf } from "./model.ts";
import { Nemesis } from "./nemesis.ts";
import { ProcessDied, Scheduler } from "./scheduler.ts";
import { SimulatedServer } from "./server.ts";
import { Story } from "./story.ts";
import { Traffic } from "./traffic.ts";
import { SimulatedUpstream } from "./upstream.ts";

const START_MS = 1_800_000_000_000;
const HOUR_MS = 3_600_000;
/** The shortest and the longest phase in which anything may break, ms. */
const SAFETY_MS = [40_000, 240_000] as const;
/** The time that healing may take, ms. */
const HEALING_MS = 20 * 60_000;
/** The longest quiet time after some of the checks, ms: undos run out, and renderers without work end. */
const CALM_MS = 60 * 60_000;
const CHECKS_PER_CALM = 5;
/** The mean pauses, ms, between bursts of users, acts of operators and acts of the nemesis. */
const USERS_MS = 600;
const OPERATORS_MS = 4_000;
const NEMESIS_MS = 4_000;

export interface WorldOptions {
  readonly seed: number;
  readonly hours: number;
  readonly configuration: Configuration;
  readonly echo: boolean;
}

export interface WorldResult {
  readonly problems: readonly string[];
  readonly story: Story;
  readonly hours: number;
  readonly faults: number;
  readonly faultsByKind: ReadonlyMap<string, number>;
  readonly events: number;
  readonly counts: Model["counts"];
  readonly digest: string;
}

/** Simulates one server on one machine for some hours, from an empty disk. Everything in it follows from the seed. */
export async function simulateWorld({ seed, hours, configuration, echo }: WorldOptions): Promise<WorldResult> {
  const world = new World(seed, configuration, echo);
  const unhandled = (error: unknown): void => world.unhandled(error);
  process.on("unhandledRejection", unhandled);
  process.on("uncaughtException", unhandled);
  try {
    await world.run(hours);
  } finally {
    process.off("unhandledRejection", unhandled);
    process.off("uncaughtException", unhandled);
    world.close();
  }
  return world.result();
}

class World {
  readonly #scheduler: Scheduler;
  readonly #story: Story;
  readonly #disk: SimulatedDisk;
  readonly #database = new SimulatedDatabase();
  readonly #upstream: SimulatedUpstream;
  readonly #model: Model;
  readonly #traffic: Traffic;
  readonly #nemesis: Nemesis;
  readonly #configuration: Configuration;
  #server: SimulatedServer;
  #boot = 1;
  #isSafety = false;

  constructor(seed: number, configuration: Configuration, echo: boolean) {
    this.#configuration = configuration;
    const scheduler = new Scheduler(chanceOf(seed), START_MS);
    this.#scheduler = scheduler;
    this.#story = new Story(() => scheduler.nowMs);
    this.#story.echo = echo;
    this.#disk = new SimulatedDisk(scheduler);
    this.#upstream = new SimulatedUpstream(scheduler);
    this.#model = new Model(this.#disk, scheduler, this.#story, this.#upstream);
    const shared = {
      scheduler,
      story: this.#story,
      upstream: this.#upstream,
      model: this.#model,
      disk: this.#disk,
      database: this.#database,
      configuration,
      server: () => this.#server,
    };
    this.#traffic = new Traffic(shared);
    this.#nemesis = new Nemesis({ ...shared, losePower: () => this.#losePower() });
    this.#server = this.#newServer();
  }

  close(): void {
    this.#server.process.die();
    this.#database.close();
  }

  unhandled(error: unknown): void {
    if (error instanceof ProcessDied || /has died|has ended/.test(String(error))) return;
    this.#story.problem(`unhandled: ${error instanceof Error ? error.stack : String(error)}`);
  }

  #newServer(): SimulatedServer {
    const server = new SimulatedServer({
      scheduler: this.#scheduler,
      disk: this.#disk,
      database: this.#database,
      upstream: this.#upstream,
      configuration: this.#configuration,
      boot: String(this.#boot),
      log: (level, sentence, fields) => {
        if (level !== "info") this.#story.note(`log ${level}: ${sentence} ${textOf(fields)}`);
      },
      published: (event) => {
        if (event.kind === "job") this.#model.jobSeen(event.job);
      },
    });
    server.process.whenEnded(() => {
      this.#story.note("the server has ended");
      this.#scheduler.at(20 + this.#scheduler.chance.below(3_000), undefined, () => this.#startServer());
    });
    return server;
  }

  #startServer(): void {
    if (this.#server.process.isAlive) return;
    this.#story.note("the server starts");
    this.#server = this.#newServer();
    this.#traffic.restarted();
    this.#server.start();
  }

  #losePower(): void {
    const server = this.#server;
    for (const process of [...server.renderers]) process.die();
    server.process.die();
    this.#boot++;
    const lost = this.#disk.losePower();
    this.#model.powerLost();
    this.#story.note(`${lost} changes of the disk are lost`);
  }

  /** Repeats an act at random times. */
  #repeat(meanMs: number, act: () => void): void {
    const next = (): void => {
      this.#scheduler.at(this.#scheduler.chance.below(2 * meanMs), undefined, () => {
        if (this.#isSafety) act();
        next();
      });
    };
    next();
  }

  async run(hours: number): Promise<void> {
    this.#server.start();
    this.#repeat(USERS_MS, () => this.#traffic.read());
    this.#repeat(OPERATORS_MS, () => this.#traffic.act());
    this.#repeat(NEMESIS_MS, () => this.#nemesis.act());
    this.#repeat(2_000, () => this.#traffic.look());
    const untilMs = START_MS + hours * HOUR_MS;
    while (this.#scheduler.nowMs < untilMs && !this.#hasFailed) {
      this.#isSafety = true;
      this.#upstream.losesAnswers = true;
      const [shortest, longest] = SAFETY_MS;
      const { below } = this.#scheduler.chance;
      await this.#pass(Math.min(shortest + below(longest - shortest), untilMs - this.#scheduler.nowMs));
      this.#isSafety = false;
      if (!this.#hasFailed) await this.#liveness();
      if (below(CHECKS_PER_CALM) === 0) await this.#pass(below(CALM_MS));
    }
  }

  get #hasFailed(): boolean {
    return this.#story.problems.length > 0;
  }

  #pass(ms: number): Promise<void> {
    return this.#scheduler.run(this.#scheduler.nowMs + ms, () => this.#hasFailed);
  }

  /** Runs work that needs events. Undefined if it has not ended within the time. */
  async #within<T>(ms: number, work: () => Promise<T>): Promise<T | undefined> {
    let result: { readonly value: T } | undefined;
    void work().then(
      (value) => {
        result = { value };
      },
      (error: unknown) => this.#story.problem(`a check has failed: ${error instanceof Error ? error.stack : error}`),
    );
    await this.#scheduler.run(this.#scheduler.nowMs + ms, () => result !== undefined || this.#hasFailed);
    return result?.value;
  }

  /** Repeats a question every second until it is answered with true. */
  async #until(what: string, ms: number, ask: () => Promise<boolean>): Promise<void> {
    const untilMs = this.#scheduler.nowMs + ms;
    while (!this.#hasFailed) {
      if ((await this.#within(60_000, ask)) === true) return;
      if (this.#scheduler.nowMs > untilMs)
        return this.#story.problem(`expected within ${ms / 60_000} minutes: ${what}`);
      await this.#pass(1_000);
    }
  }

  async #liveness(): Promise<void> {
    this.#nemesis.heal();
    await this.#until("the server is ready", HEALING_MS, async () => this.#server.readiness.ready);
    await this.#until("all requests are answered", HEALING_MS, async () => this.#traffic.open === 0);
    await this.#until("all jobs end", HEALING_MS, () => this.#traffic.settleJobs());
    await this.#until("usage equals the store", HEALING_MS, () => this.#isUsageRight());
    if (this.#hasFailed) this.#tellUsage();
    await this.#until("the ledger equals the store", HEALING_MS, () => this.#isLedgerRight());
    if (!this.#hasFailed) {
      this.#model.checkFiles();
      this.#model.checkHistory();
      this.#traffic.lookAtQuota();
    }
    if (!this.#hasFailed) await this.#within(HEALING_MS, () => this.#traffic.readSome(40));
    this.#model.counts.checks++;
    this.#story.note("everything is checked");
  }

  #differences: string[] = [];

  #tellUsage(): void {
    for (const difference of this.#differences.slice(0, 8)) this.#story.problem(difference);
  }

  async #isUsageRight(): Promise<boolean> {
    const usage = await this.#server.operate((core) => core.usage({ tileSets: true, layer: undefined }));
    if (usage === undefined) return false;
    const stored = this.#model.scan();
    const counted = new Map<string, string>();
    for (const { layer, gridSet, format, parametersId, zooms } of usage.tileSets ?? [])
      for (const { z, tiles, bytes, bytesOnDisk } of zooms) {
        if (tiles === 0n && bytes === 0n && bytesOnDisk === 0n) continue;
        const level = `${gridSet}_${String(z).padStart(2, "0")}${parametersId === "" ? "" : `_${parametersId}`}`;
        const extension = format === "image/png" ? "png" : "pbf";
        counted.set(`${layer}/${level}/${extension}`, `${tiles} ${bytes} ${bytesOnDisk}`);
      }
    this.#differences = [...new Set([...stored.keys(), ...counted.keys()])].flatMap((key) => {
      const [a, b] = [stored.get(key)?.join(" "), counted.get(key)];
      return a === b ? [] : [`${key}: the store has ${a}, usage ${b} (tiles, bytes, bytes on the disk)`];
    });
    return this.#differences.length === 0;
  }

  #isVerifying = false;

  async #isLedgerRight(): Promise<boolean> {
    const found = await this.#server.operate(async (core) => {
      if (!this.#isVerifying) {
        this.#isVerifying = await core.verify({ repair: false, layer: undefined });
        return undefined;
      }
      return core.verification();
    });
    if (found === undefined || found.state === "running") return false;
    this.#isVerifying = false;
    if (found.differing > 0) this.#story.problem(`the ledger differs from the store: ${textOf(found).slice(0, 800)}`);
    return true;
  }

  result(): WorldResult {
    return {
      problems: this.#story.problems,
      story: this.#story,
      hours: (this.#scheduler.nowMs - START_MS) / HOUR_MS,
      faults: this.#nemesis.total + this.#upstream.faults,
      faultsByKind: this.#nemesis.faults,
      events: this.#scheduler.events,
      counts: this.#model.counts,
      digest: `${(this.#story.digest >>> 0).toString(16)}-${this.#scheduler.events}`,
    };
  }
}
