import PQueue from "p-queue";
import type { LayerName } from "../layer/tile-set.ts";
import { CELLS_IN_HAND } from "../ledger/cells/eviction-order.ts";
import type { ServiceParts } from "../ledger/service-parts.ts";
import { turn } from "../lib/time/sleep.ts";
import type { Admission, SpaceRefusal, StoredSize } from "../render/admission.ts";
import type { DiskSpace } from "../store/tile-store.ts";
import type { EvictionOptions } from "./configuration/eviction-options.ts";
import { type Limit, limitsOf, waterMarks } from "./configuration/limits.ts";
import type { CleanUpUnit, QuotaConfiguration } from "./configuration/quota-configuration.ts";
import { countedSize } from "./configuration/quota-count.ts";
import type { Disks } from "./disk/disks.ts";
import { spaceOnDisk } from "./disk/space-on-disk.ts";
import type { Eviction, SeedRange } from "./eviction.ts";
import type { Reservation, Reservations, Writer } from "./reservations.ts";

export interface EnforcerParts extends Pick<ServiceParts, "ledger" | "clock" | "log"> {
  readonly reservations: Reservations;
  readonly eviction: Eviction;
  readonly disks: Pick<Disks, "of" | "sharing">;
  readonly configuration: () => QuotaConfiguration;
  readonly options: () => EvictionOptions;
}

/** The parts that are built after the enforcer, because they reserve space through it. */
export interface EnforcerSources {
  /** Returns the ranges that running seeds are storing. */
  readonly seedRanges: () => readonly SeedRange[];
  /** Reclaims the space of truncations of the chosen layers that could still be undone. */
  readonly giveUpTruncated: (isChosen: (layer: LayerName) => boolean) => void;
  /** Returns whether space of truncations is being reclaimed. */
  readonly isReclaiming: () => boolean;
}

/** Counts of evictions and clean-ups since the start of the server. */
export interface EnforcerCounts {
  readonly evictedTiles: number;
  readonly evictedBytes: number;
  /** The number of renders whose tiles were served but not stored. */
  readonly notStored: number;
  readonly cleanUps: number;
}

const UNIT_MS: Readonly<Record<CleanUpUnit, number>> = {
  SECONDS: 1_000,
  MINUTES: 60_000,
  HOURS: 3_600_000,
  DAYS: 86_400_000,
};
/** The most cells that are evicted for a user's write. A write that needs more is not stored. */
const CELLS_FOR_USER = 64;
/** The most cells that are evicted between two turns of the event loop, with one commit of their marks. */
const CELLS_PER_TURN = CELLS_IN_HAND / 2;
/** The free space that is never reserved ahead. A thousand waiting users may reserve this much. */
const NOT_AHEAD_BYTES = 64 * 2 ** 20;
const NOT_AHEAD_FILES = 1_000;

const STORE: Admission = { kind: "store" };

/**
 * Keeps the store within its quotas. A writer reserves the size that it is about to add; usage and reservations
 * together never pass a limit. If a reservation would pass a limit, the least used cells are evicted, each as a whole,
 * and only as many as needed. A clean-up evicts in the same way after a limit was lowered, and at the configured
 * frequency.
 */
export class Enforcer {
  readonly #parts: EnforcerParts;
  #sources: EnforcerSources | undefined;
  /** The number of renders whose tiles were served but not stored. */
  notStored = 0;
  #cleanUps = 0;
  /** The period between two clean-ups, and the time of the next one on the monotonic clock. */
  #periodMs = 0;
  #nextMs = Number.POSITIVE_INFINITY;
  #running: Promise<void> | undefined;
  /** The number of requested clean-ups. */
  #requested = 0;
  #closed = false;

  constructor(parts: EnforcerParts) {
    this.#parts = parts;
  }

  /**
   * Connects the enforcer to the job runner and the truncations, which are built after it. Called once, before the
   * first write.
   */
  attach(sources: EnforcerSources): void {
    this.#sources = sources;
    this.#parts.eviction.attach(sources.seedRanges);
  }

  get counts(): EnforcerCounts {
    const { tiles, bytes } = this.#parts.eviction;
    return { evictedTiles: tiles, evictedBytes: bytes, notStored: this.notStored, cleanUps: this.#cleanUps };
  }

  /**
   * Applies a configuration that may have changed. A changed clean-up period starts now. An unchanged period continues,
   * so that a tool that repeatedly puts the same configuration does not postpone the clean-up forever.
   */
  schedule(): void {
    const { cacheCleanUpFrequency, cacheCleanUpUnits } = this.#parts.configuration();
    const periodMs = cacheCleanUpFrequency * UNIT_MS[cacheCleanUpUnits];
    this.#parts.eviction.renew();
    if (periodMs === this.#periodMs) return;
    this.#periodMs = periodMs;
    this.#nextMs = this.#parts.clock.monotonicNow() + periodMs;
  }

  /** Begins a clean-up if a period has passed since the last one. Called several times a second. */
  tick(): void {
    if (this.#running !== undefined || this.#closed || this.#parts.clock.monotonicNow() < this.#nextMs) return;
    void this.cleanUp().finally(() => {
      this.#nextMs = this.#parts.clock.monotonicNow() + this.#periodMs;
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  // ---- at a write

  /** Reserves a size if it fits without eviction. Returns whether it fits. */
  tryReserve(reservation: Reservation, size: StoredSize): boolean {
    if (!reservation.isOpen || this.#obstacle(reservation.layer, size) !== undefined) return false;
    reservation.refused = undefined;
    reservation.grow(size);
    return true;
  }

  /**
   * Reserves a size before the writer knows how much it needs, only while much more space is free, because a size that
   * is reserved ahead must not keep other writers from storing. Returns whether the size was reserved.
   */
  reserveAhead(reservation: Reservation, size: StoredSize): boolean {
    const ample = {
      bytes: size.bytes + NOT_AHEAD_BYTES,
      allocated: size.allocated + NOT_AHEAD_BYTES,
      files: size.files + NOT_AHEAD_FILES,
    };
    if (!reservation.isOpen || this.#obstacle(reservation.layer, ample) !== undefined) return false;
    reservation.grow(size);
    return true;
  }

  /**
   * Reserves a size, and evicts cells for it if necessary. Grants a size of 0 while there is any space. A seed without
   * a reserved size waits until other writers have counted or released their reservations.
   */
  async reserve(reservation: Reservation, size: StoredSize): Promise<Admission> {
    let cells = 0;
    while (!this.tryReserve(reservation, size)) {
      const answer = await this.#freeSpace(reservation, size, cells);
      if (typeof answer !== "number") {
        reservation.refused = answer;
        return answer;
      }
      cells += answer;
    }
    return STORE;
  }

  /**
   * Frees space for a size.
   * @returns the number of evicted cells, or why there is no space
   */
  async #freeSpace(reservation: Reservation, size: StoredSize, before: number): Promise<number | SpaceRefusal> {
    const { eviction } = this.#parts;
    const { layer, writer } = reservation;
    if (!reservation.isOpen || this.#closed) return { kind: "busy", reason: "the writer has ended" };
    const obstacle = this.#obstacle(layer, size);
    if (obstacle === undefined) return 0;
    const cellsLeft = writer === "user" ? CELLS_FOR_USER - before : CELLS_PER_TURN;
    if (cellsLeft <= 0) return { kind: "busy", reason: "room is being made in the store" };
    const most = Math.min(cellsLeft, CELLS_PER_TURN);
    if (obstacle === "disk") return await this.#freeDiskSpace(layer, writer, size, most);
    const limit = obstacle;
    const needed = BigInt(Math.max(1, this.#counted(size)));
    const full = {
      kind: "full",
      reason: `the disk quota of ${limit.name} is full, and only tiles of running seeds and tiles in use are left to evict`,
    } as const;
    if (needed > limit.bytes) return full;
    if (before === 0) this.#giveUpTruncated(limit);
    const evicted = await eviction.freeSpace(limit, writer, () => this.#excess(limit, size), most);
    if (evicted !== undefined) {
      await turn(this.#parts.clock);
      return evicted;
    }
    // Other writers may have released their space during the search for cells. Then no event would end the wait below.
    if (this.#excess(limit, size) <= 0n) return 0;
    if (this.#used(limit) + needed > limit.bytes) return full;
    // The size would fit beside the stored tiles, so only the reservations of other writers prevent it.
    if (writer === "user" || this.#counted(reservation.size) > 0)
      return { kind: "busy", reason: "other writers have reserved the room in the store" };
    await this.#parts.reservations.less();
    return 0;
  }

  #giveUpTruncated({ layer }: Limit): void {
    this.#sources?.giveUpTruncated((other) => layer === undefined || other === layer);
  }

  async #freeDiskSpace(
    layer: LayerName,
    writer: Writer,
    size: StoredSize,
    most: number,
  ): Promise<number | SpaceRefusal> {
    const { disks, configuration, eviction } = this.#parts;
    const [disk, isThere] = [disks.of(layer), disks.sharing(layer)];
    const space = await disk.fresh();
    if (space === undefined) return { kind: "store_away", reason: disk.reason };
    if (this.#excessOnDisk(space, size, isThere) === undefined) return 0;
    this.#sources?.giveUpTruncated(isThere ?? (() => true));
    if (this.#sources?.isReclaiming())
      return { kind: "disk_full", reason: "the disk of the store is full, truncated tiles are being removed" };
    const full = { kind: "disk_full", reason: "the disk of the store is full" } as const;
    if (!configuration().enabled) return full;
    const { global } = limitsOf(configuration());
    const limit =
      isThere === undefined
        ? global
        : {
            ...global,
            // The order of the cells to evict is cached under this name.
            name: `the disk of ${layer}`,
            stages: global.stages.map((isStage) => (other: LayerName) => isStage(other) && isThere(other)),
          };
    const evicted = await eviction.freeSpace(limit, writer, () => this.#excessOnDisk(space, size, isThere) ?? 0n, most);
    if (evicted === undefined) return full;
    await disk.again();
    return evicted;
  }

  /** Returns the part of a size that the quotas count: bytes or allocated bytes. */
  #counted<T>(size: { readonly bytes: T; readonly allocated: T }): T {
    return countedSize(size, this.#parts.options().count);
  }

  #used({ layer }: Limit): bigint {
    const { ledger } = this.#parts;
    return this.#counted(layer === undefined ? ledger.sums.total : ledger.sums.of(layer));
  }

  /** Returns the limit, or the disk, that a size would exceed now. Undefined if the size fits. */
  #obstacle(layer: LayerName, size: StoredSize): Limit | "disk" | undefined {
    const { disks, configuration } = this.#parts;
    const space = disks.of(layer).now();
    if (space === undefined || this.#excessOnDisk(space, size, disks.sharing(layer)) !== undefined) return "disk";
    if (!configuration().enabled) return undefined;
    const { ofLayer, global } = limitsOf(configuration());
    const own = ofLayer.get(layer);
    return (own === undefined ? [global] : [own, global]).find((limit) => this.#excess(limit, size) > 0n);
  }

  /** Returns the bytes to evict before a size fits under a limit; 0 or less if it fits. */
  #excess(limit: Limit, size: StoredSize): bigint {
    const counted = this.#counted(size);
    const reserved = this.#counted(this.#parts.reservations.sumOf(limit.layer));
    return this.#used(limit) + (counted === 0 ? 1n : reserved + BigInt(counted)) - limit.bytes;
  }

  /**
   * Returns the bytes to evict before a size fits beside the reserve of the disk. Undefined if it fits.
   * @param isThere returns whether the tiles of a layer are on the disk; undefined: the tiles of all layers are
   */
  #excessOnDisk(
    space: DiskSpace,
    size: StoredSize,
    isThere: ((layer: LayerName) => boolean) | undefined,
  ): bigint | undefined {
    const { reservations, options } = this.#parts;
    const left = spaceOnDisk(space, options());
    const reserved = reservations.sumWhere(isThere);
    const shortBytes = reserved.allocated + BigInt(size.allocated) - left.bytes;
    const shortFiles = reserved.files + size.files - left.files;
    if (shortBytes <= 0n && !(shortFiles > 0)) return undefined;
    return shortBytes > 0n ? shortBytes : 1n;
  }

  // ---- clean-ups

  /** Brings usage below all current limits. Requests that arrive during a clean-up share one further clean-up. */
  cleanUp(): Promise<void> {
    this.#requested++;
    this.#running ??= this.#cleanUpAsRequested()
      .catch((error: unknown) => this.#parts.log.error("a clean-up failed", { error: String(error) }))
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  async #cleanUpAsRequested(): Promise<void> {
    for (let done = 0; done !== this.#requested && !this.#closed; ) {
      done = this.#requested;
      await this.#cleanUpAll();
    }
  }

  async #cleanUpAll(): Promise<void> {
    const configuration = this.#parts.configuration();
    if (!configuration.enabled) return;
    const { ofLayer, global } = limitsOf(configuration);
    const queue = new PQueue({ concurrency: Math.min(configuration.maxConcurrentCleanUps, 1_000) });
    await queue.addAll([...ofLayer.values()].map((limit) => () => this.#cleanUp(limit, configuration)));
    await this.#cleanUp(global, configuration);
  }

  /**
   * Runs a clean-up for one limit. Ends early if the configuration changes, because the change requests the next
   * clean-up.
   */
  async #cleanUp(limit: Limit, configuration: QuotaConfiguration): Promise<void> {
    const { eviction, options, log } = this.#parts;
    const { high, low: target } = waterMarks(limit, options());
    if (this.#used(limit) <= high) return;
    this.#giveUpTruncated(limit);
    this.#cleanUps++;
    const before = eviction.tiles;
    const evict = eviction.cleanUp(limit);
    while (!this.#closed && this.#parts.configuration() === configuration && this.#used(limit) > target) {
      const evicted = await evict(() => this.#used(limit) - target, CELLS_PER_TURN);
      if (evicted === undefined) break;
      await turn(this.#parts.clock);
    }
    log.info("a clean-up has ended", {
      scope: limit.name,
      evictedTiles: eviction.tiles - before,
      counts: options().count,
      bytes: String(this.#used(limit)),
      limit: String(limit.bytes),
    });
  }
}
