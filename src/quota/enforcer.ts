import { setImmediate as turn } from "node:timers/promises";
import PQueue from "p-queue";
import type { Admission } from "../cache/admission.ts";
import type { TileRect } from "../grid/grid-set.ts";
import { CELLS_IN_HAND, type ColdCell, type EvictionOrder, type Keep } from "../ledger/eviction-order.ts";
import { heated } from "../ledger/heat.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Logger } from "../lib/logger.ts";
import type { Room } from "../store/blob-store.ts";
import type { TileSet } from "../tile/tile-set.ts";
import { type Area, covered, type EvictionOptions } from "./eviction-options.ts";
import { quotaBytes } from "./quota-bytes.ts";
import type { CleanUpUnit, ExpirationPolicy, LayerQuota, QuotaConfiguration } from "./quota-configuration.ts";

/** Tiles that running seeds store or count as stored: spared while anything else can go. */
export interface SeedRange extends Area {
  readonly format: string;
  readonly parametersId: string;
}

export interface EnforcerParts {
  readonly ledger: Ledger;
  readonly configuration: () => QuotaConfiguration;
  readonly options: () => EvictionOptions;
  readonly seedRanges: () => readonly SeedRange[];
  readonly room: () => Room;
  /** Gives back the space of truncations that could be taken back: of one layer, or of all. */
  readonly giveUpTruncated: (layer: string | undefined) => void;
  /** Space is being given back at this moment. */
  readonly isReclaiming: () => boolean;
  /** Tiles have left the store. */
  readonly evicted: (tileSet: TileSet, rect: TileRect) => void;
  readonly now: () => number;
  readonly log: Logger;
}

/** Room for what all tasks of all jobs may be storing at this moment, and for much more. */
const AMPLE_BYTES = 64n * 1024n * 1024n;

/** What the quota has done since the start. */
export interface EnforcerCounts {
  evictedTiles: number;
  evictedBytes: number;
  /** Draws that were served and not stored. */
  notStored: number;
  cleanUps: number;
}

/** For whom a metatile is stored. */
export type Writer = "user" | "seed";

/**
 * What may go: "any" cell, in the order of the policy; "cold" ones that no running seed stores and that are less used than
 * a cell written at this moment (nothing in it was read again lately).
 */
type Choice = "any" | "cold";

/** A limit, and which layers have to give way for it, those named first first. */
interface Scope {
  readonly name: string;
  /** Undefined: all. */
  readonly layer: string | undefined;
  readonly limit: bigint;
  readonly policy: ExpirationPolicy;
  readonly used: () => bigint;
  readonly stages: readonly ((layer: string) => boolean)[];
}

const UNIT_MS: Readonly<Record<CleanUpUnit, number>> = {
  SECONDS: 1_000,
  MINUTES: 60_000,
  HOURS: 3_600_000,
  DAYS: 86_400_000,
};
/** Timers count in 32 bits. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** Cells that one writer evicts at most before it writes; one that needs more is not stored, or tries again. */
const CELLS_PER_ADMISSION = 8;
/** Cells that a clean-up evicts between two turns of the loop, with one commit of their marks. */
const CELLS_PER_TURN = CELLS_IN_HAND / 2;
/** An order of cells is walked for so long; what was born since is not in it. */
const ORDER_MS = 5_000;
const DEFAULT_FREE_SHARE = 0.05;
const DEFAULT_FREE_BYTES = 64 * 2 ** 20;
const DEFAULT_FREE_INODES = 1_000;

/**
 * Keeps the store inside its quotas: at every write (a writer is let in only below the limit, so that usage passes it by
 * one metatile per writer at most), and by a clean-up at the configured frequency. Both evict whole cells, the coldest
 * first, and never more than is needed.
 */
export class Enforcer {
  readonly #parts: EnforcerParts;
  readonly #orders = new Map<string, { readonly order: Victims; readonly untilMs: number }>();
  readonly counts: EnforcerCounts = { evictedTiles: 0, evictedBytes: 0, notStored: 0, cleanUps: 0 };
  #timer: NodeJS.Timeout | undefined;
  #periodMs = 0;
  #nextMs = 0;
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(parts: EnforcerParts) {
    this.#parts = parts;
  }

  /**
   * The configuration may have changed. A new frequency counts from now on; the same one goes on, as a tool that puts the
   * same configuration again and again must not put the clean-up off for ever.
   */
  schedule(): void {
    const { cacheCleanUpFrequency, cacheCleanUpUnits } = this.#parts.configuration();
    const periodMs = cacheCleanUpFrequency * UNIT_MS[cacheCleanUpUnits];
    this.#orders.clear();
    if (periodMs !== this.#periodMs) this.#again(periodMs);
  }

  #again(periodMs: number): void {
    this.#periodMs = periodMs;
    this.#nextMs = this.#parts.now() + periodMs;
    this.#wait();
  }

  #wait(): void {
    clearTimeout(this.#timer);
    if (this.#closed) return;
    const left = Math.max(0, this.#nextMs - this.#parts.now());
    this.#timer = setTimeout(
      () => {
        if (this.#parts.now() < this.#nextMs) this.#wait();
        else void this.cleanUp().finally(() => this.#again(this.#periodMs));
      },
      Math.min(left, LONGEST_TIMER_MS),
    );
    this.#timer.unref();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #layerScope({ layer, expirationPolicyName, quota }: LayerQuota): Scope {
    return {
      name: `layer ${layer}`,
      layer,
      limit: quotaBytes(quota),
      policy: expirationPolicyName,
      used: () => this.#parts.ledger.sumOf(layer).bytes,
      stages: [(other) => other === layer],
    };
  }

  /** Layers without a quota of their own give way first; the others only when that is not enough. */
  #globalScope(): Scope {
    const { ledger, configuration } = this.#parts;
    const { globalQuota, globalExpirationPolicyName, layerQuotas } = configuration();
    const own = new Set(layerQuotas.map(({ layer }) => layer));
    return {
      name: "all layers",
      layer: undefined,
      limit: quotaBytes(globalQuota),
      policy: globalExpirationPolicyName,
      used: () => ledger.total.bytes,
      stages: [(layer) => !own.has(layer), (layer) => own.has(layer)],
    };
  }

  // ---- at a write

  /**
   * Whether a writer of a layer may store a metatile; makes room for it first where that takes little. A user's tile takes
   * the place of the coldest cell, whatever that is; a seed's only that of one that nobody uses.
   */
  admit(layer: string, writer: Writer): Admission {
    const { configuration } = this.#parts;
    const enabled = configuration().enabled;
    if (!this.#diskHasRoom()) {
      this.#parts.giveUpTruncated(undefined);
      if (this.#parts.isReclaiming())
        return { kind: "disk_full", reason: "the disk of the store is full, what was truncated is being removed" };
      if (enabled) this.#evictSome(this.#globalScope(), writer, (evicted) => evicted < CELLS_PER_ADMISSION);
      if (!this.#diskHasRoom()) return { kind: "disk_full", reason: "the disk of the store is full" };
    }
    if (!enabled) return { kind: "store", room: "ample" };
    let room: "ample" | "tight" = "ample";
    const own = configuration().layerQuotas.find((quota) => quota.layer === layer);
    for (const scope of [...(own === undefined ? [] : [this.#layerScope(own)]), this.#globalScope()]) {
      const isOver = (): boolean => scope.used() >= scope.limit;
      if (scope.used() + AMPLE_BYTES > scope.limit) room = "tight";
      if (!isOver()) continue;
      const full: Admission = {
        kind: "full",
        reason: `the disk quota of ${scope.name} is full, and only tiles of running seeds and tiles in use are left to evict`,
      };
      if (scope.limit === 0n) return full;
      const evicted = this.#evictSome(scope, writer, (count) => isOver() && count < CELLS_PER_ADMISSION);
      if (isOver()) return evicted === 0 ? full : { kind: "busy" };
    }
    return { kind: "store", room };
  }

  #diskHasRoom(): boolean {
    const { minFreeBytes, minFreeInodes } = this.#parts.options();
    const { freeBytes, totalBytes, freeInodes, totalInodes } = this.#parts.room();
    return (
      freeBytes >= (minFreeBytes ?? Math.min(totalBytes * DEFAULT_FREE_SHARE, DEFAULT_FREE_BYTES)) &&
      freeInodes >= (minFreeInodes ?? Math.min(totalInodes * DEFAULT_FREE_SHARE, DEFAULT_FREE_INODES))
    );
  }

  /** Evicts cell by cell while more are wanted. @returns how many went */
  #evictSome(scope: Scope, writer: Writer, more: (evicted: number) => boolean): number {
    let evicted = 0;
    let fresh = false;
    if (more(evicted)) this.#parts.giveUpTruncated(scope.layer);
    while (more(evicted)) {
      const victim = this.#order(scope, writer).next();
      if (victim !== undefined) {
        this.#evict([victim]);
        evicted++;
      } else if (fresh) return evicted;
      else {
        // The order may have been made before the last cells were born.
        fresh = true;
        this.#orders.delete(`${writer} ${scope.name}`);
      }
    }
    return evicted;
  }

  #order(scope: Scope, writer: Writer): Victims {
    const key = `${writer} ${scope.name}`;
    const now = this.#parts.now();
    const known = this.#orders.get(key);
    if (known !== undefined && known.untilMs > now) return known.order;
    const order = this.#victims(scope, [writer === "seed" ? "cold" : "any"]);
    this.#orders.set(key, { order, untilMs: now + ORDER_MS });
    return order;
  }

  // ---- clean-ups

  /** One pass over all limits; a second one that is asked for meanwhile is the same. */
  cleanUp(): Promise<void> {
    this.#running ??= this.#cleanUpAll()
      .catch((error: unknown) => this.#parts.log.error("a clean-up failed", { error: String(error) }))
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  async #cleanUpAll(): Promise<void> {
    const { configuration } = this.#parts;
    if (!configuration().enabled) return;
    const queue = new PQueue({ concurrency: Math.min(configuration().maxConcurrentCleanUps, 1_000) });
    await queue.addAll(configuration().layerQuotas.map((quota) => () => this.#cleanUp(this.#layerScope(quota))));
    await this.#cleanUp(this.#globalScope());
  }

  async #cleanUp(scope: Scope): Promise<void> {
    const { highWaterPercent, lowWaterPercent } = this.#parts.options();
    const share = (percent: number): bigint => (scope.limit * BigInt(Math.round(percent * 1000))) / 100_000n;
    if (scope.used() <= share(highWaterPercent)) return;
    const target = share(lowWaterPercent);
    this.#parts.giveUpTruncated(scope.layer);
    this.counts.cleanUps++;
    const before = this.counts.evictedTiles;
    // A floor is held against what is kept, so what is in hand has to be gone before the next is chosen.
    const batchSize = this.#parts.options().floors.length > 0 ? 1 : CELLS_PER_TURN;
    // While seeds run, what nobody uses goes first, so that they neither chase their own tiles nor push out what is used.
    const victims = this.#victims(scope, this.#parts.seedRanges().length > 0 ? ["cold", "any"] : ["any"]);
    while (!this.#closed && this.#parts.configuration().enabled && scope.used() > target) {
      const batch: ColdCell[] = [];
      let rest = scope.used() - target;
      while (rest > 0n && batch.length < batchSize) {
        const victim = victims.next();
        if (victim === undefined) break;
        batch.push(victim);
        rest -= BigInt(Math.max(1, victim.bytes));
      }
      if (batch.length === 0) break;
      this.#evict(batch);
      await turn();
    }
    this.#parts.log.info("a clean-up has ended", {
      scope: scope.name,
      evictedTiles: this.counts.evictedTiles - before,
      bytes: String(scope.used()),
      limit: String(scope.limit),
    });
  }

  /** Stage by stage of the scope, for one choice after the other. */
  #victims(scope: Scope, choices: readonly Choice[]): Victims {
    const { ledger, now } = this.#parts;
    const makers = choices.flatMap((choice) =>
      scope.stages.map(
        (ofLayer) => () =>
          ledger.coldest({
            order: scope.policy,
            ofLayer,
            keep: this.#keep(choice),
            colderThan: choice === "cold" ? heated(0, now(), 1) : Number.POSITIVE_INFINITY,
          }),
      ),
    );
    return new Victims(makers);
  }

  #keep(choice: Choice): Keep {
    const { ledger, options, seedRanges } = this.#parts;
    const { pins, floors } = options();
    const floorOf = new Map(floors.map(({ layer, bytes }) => [layer, bytes]));
    return (tileSet, rect, bytes) => {
      const floor = floorOf.get(tileSet.layer);
      if (floor !== undefined && ledger.sumOf(tileSet.layer).bytes - BigInt(bytes) < floor) return "all";
      const pinned = covered(tileSet, rect, pins);
      if (pinned === "all" || choice === "any") return pinned;
      const seeded = covered(
        tileSet,
        rect,
        seedRanges().filter((r) => r.format === tileSet.format && r.parametersId === tileSet.parametersId),
      );
      return seeded === "none" ? pinned : seeded;
    };
  }

  #evict(cells: readonly ColdCell[]): void {
    const before = this.#parts.ledger.total;
    const [tiles, bytes] = [before.tiles, before.bytes];
    for (const { tileSet, rect } of this.#parts.ledger.evict(cells)) this.#parts.evicted(tileSet, rect);
    const after = this.#parts.ledger.total;
    this.counts.evictedTiles += Number(tiles - after.tiles);
    this.counts.evictedBytes += Number(bytes - after.bytes);
  }
}

/** Orders one after the other, each made when the one before has nothing left. */
class Victims {
  readonly #makers: (() => EvictionOrder)[];
  #order: EvictionOrder | undefined;

  constructor(makers: (() => EvictionOrder)[]) {
    this.#makers = makers;
  }

  next(): ColdCell | undefined {
    for (;;) {
      const cell = this.#order?.next();
      if (cell !== undefined) return cell;
      const make = this.#makers.shift();
      if (make === undefined) return undefined;
      this.#order = make();
    }
  }
}
