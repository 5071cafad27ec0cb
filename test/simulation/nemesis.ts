import type { SimulatedDatabase } from "./database.ts";
import type { SimulatedDisk } from "./disk.ts";
import type { Scheduler, SimulatedProcess } from "./scheduler.ts";
import type { SimulatedServer } from "./server.ts";
import type { Story } from "./story.ts";
import { MOODS, type SimulatedUpstream } from "./upstream.ts";

/** What the nemesis can reach. */
export interface Victims {
  readonly scheduler: Scheduler;
  readonly disk: SimulatedDisk;
  readonly database: SimulatedDatabase;
  readonly upstream: SimulatedUpstream;
  readonly story: Story;
  readonly server: () => SimulatedServer;
  readonly losePower: () => void;
}

/** Breaks things in safety phases, and heals all of them before a liveness phase. */
export class Nemesis {
  readonly #at: Victims;
  /** The number of faults so far, by kind. */
  readonly faults = new Map<string, number>();
  #diskFaults: { readonly untilMs: number; readonly of: number; readonly code: string } | undefined;
  #stateFaultsUntilMs = 0;

  constructor(victims: Victims) {
    this.#at = victims;
    const { disk, database, scheduler } = victims;
    const { chance } = scheduler;
    disk.fault = (operation) => {
      const faults = this.#diskFaults;
      if (faults === undefined || scheduler.nowMs > faults.untilMs) return undefined;
      if (faults.code === "ENOSPC" && !/open|write|mkdir/.test(operation)) return undefined;
      if (chance.below(faults.of) > 0) return undefined;
      this.#count(`disk ${faults.code}`);
      return faults.code;
    };
    database.fault = () => {
      if (scheduler.nowMs > this.#stateFaultsUntilMs || chance.below(3) > 0) return undefined;
      this.#count("state SQLITE_IOERR_WRITE");
      return "SQLITE_IOERR_WRITE";
    };
  }

  get total(): number {
    return [...this.faults.values()].reduce((sum, n) => sum + n, 0);
  }

  #count(kind: string): void {
    this.faults.set(kind, (this.faults.get(kind) ?? 0) + 1);
  }

  act(): void {
    const { scheduler } = this.#at;
    const { pick } = scheduler.chance;
    const acts: readonly (readonly [string, () => void])[] = [
      ["server killed", () => this.#at.server().process.die()],
      ["server killed in its work", () => this.#dieLater(this.#at.server().process)],
      ["coordinator dies in its work", () => this.#dieLater(this.#at.server().coordinator)],
      ["coordinator dies in its work", () => this.#dieLater(this.#at.server().coordinator)],
      ["renderer killed", () => this.#renderer()?.die()],
      ["renderer dies in its work", () => this.#dieLater(this.#renderer())],
      ["renderer dies in its work", () => this.#dieLater(this.#renderer())],
      ["server stopped", () => void this.#at.server().close()],
      ["power lost", () => this.#at.losePower()],
      ["process suspended", () => this.#suspend()],
      ["process suspended", () => this.#suspend()],
      ["process suspended", () => this.#suspend()],
      ["clock set", () => this.#setClock()],
      ["mood of the upstream", () => this.#changeMood()],
      ["mood of the upstream", () => this.#changeMood()],
      ["disk faults", () => this.#failDisk()],
      ["state faults", () => this.#failState()],
    ];
    const [name, act] = pick(acts);
    this.#count(name);
    this.#at.story.note(`NEMESIS ${name}`);
    act();
  }

  #renderer(): SimulatedProcess | undefined {
    const all = [...this.#at.server().renderers];
    return all.length === 0 ? undefined : this.#at.scheduler.chance.pick(all);
  }

  #dieLater(process: SimulatedProcess | undefined): void {
    if (process !== undefined) process.diesAfter = this.#at.scheduler.chance.below(60);
  }

  #suspend(): void {
    const { scheduler, server } = this.#at;
    const { chance } = scheduler;
    const process = [server().process, server().coordinator, this.#renderer(), this.#renderer()][chance.below(4)];
    if (process !== undefined) process.stoppedUntilMs = scheduler.nowMs + chance.pick([20, 100, 500, 2_000, 5_000]);
  }

  #setClock(): void {
    const { disk, scheduler } = this.#at;
    disk.aheadMs = scheduler.chance.pick([0, 0, -3_600_000, 3_600_000, -5_000, 90_000]);
  }

  #changeMood(): void {
    const { upstream, scheduler, story } = this.#at;
    upstream.mood = upstream.mood === "well" ? scheduler.chance.pick(MOODS) : "well";
    story.note(`the upstream is ${upstream.mood}`);
  }

  #failDisk(): void {
    const { scheduler } = this.#at;
    const { chance } = scheduler;
    this.#diskFaults = {
      untilMs: scheduler.nowMs + chance.below(5_000),
      of: chance.pick([1, 3, 20]),
      code: chance.pick(["EIO", "ENOSPC"]),
    };
  }

  #failState(): void {
    const { scheduler } = this.#at;
    this.#stateFaultsUntilMs = scheduler.nowMs + scheduler.chance.below(4_000);
  }

  /** Heals everything. */
  heal(): void {
    const { disk, upstream, server, story } = this.#at;
    story.note("everything heals");
    this.#diskFaults = undefined;
    this.#stateFaultsUntilMs = 0;
    disk.aheadMs = 0;
    upstream.mood = "well";
    upstream.losesAnswers = false;
    for (const process of [server().process, server().coordinator, ...server().renderers])
      if (process !== undefined) {
        process.diesAfter = undefined;
        process.stoppedUntilMs = 0;
      }
  }
}
