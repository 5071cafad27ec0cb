import PQueue from "p-queue";
import type { FormatName, ParametersId } from "../layer/tile-set.ts";
import { decayedFrequency } from "../ledger/blocks/access-frequency.ts";
import type { EvictedCell } from "../ledger/cells/cell-eviction.ts";
import type { ColdCell, EvictionOrder, Keep } from "../ledger/cells/eviction-order.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { Slices } from "../lib/process/slices.ts";
import { covered, type EvictionOptions, type SubsetRects } from "./configuration/eviction-options.ts";
import type { Limit } from "./configuration/limits.ts";
import { countedSize } from "./configuration/quota-count.ts";
import type { Writer } from "./reservations.ts";

/** Tiles that running seeds store or count as stored. They are evicted only if no other tiles can be evicted. */
export interface SeedRange extends SubsetRects {
  readonly format: FormatName;
  readonly parametersId: ParametersId;
}

export interface EvictionParts {
  readonly ledger: Pick<Ledger, "eviction" | "sums" | "clock">;
  readonly options: () => EvictionOptions;
  /** Called when the tiles of a cell have been evicted from the store. */
  readonly evicted: (cell: EvictedCell) => void;
}

/**
 * Which cells may be evicted, outside of pinned areas and the floors of layers. "any": all cells, in the order of the
 * policy. "cold": only cells that no running seed stores and that are used less than a cell written now, so that no
 * tile in them was read again recently.
 */
type Choice = "any" | "cold";

/**
 * The time for which an order of cells is cached. A cached order lacks the cells that were written after it was made.
 */
const ORDER_MS = 5_000;
/** One step evicts cells until they have this many tiles together. Deleting a tile takes some 15 µs. */
const TILES_AT_ONCE = 512;

/**
 * Evicts cells from the store, the least used first, and counts the evicted tiles and bytes. Evictions run one after
 * the other. A search for cells may examine many blocks, so it yields to other work. The needed size is computed again
 * when the cells are found.
 */
export class Eviction {
  readonly #parts: EvictionParts;
  #seedRanges: () => readonly SeedRange[] = () => [];
  readonly #orders = new Map<string, { readonly order: Victims; readonly untilMs: number }>();
  readonly #queue = new PQueue({ concurrency: 1 });
  tiles = 0;
  bytes = 0;

  constructor(parts: EvictionParts) {
    this.#parts = parts;
  }

  /** Spares the tiles of running seeds from now on. Called once, when the job runner exists. */
  attach(seedRanges: () => readonly SeedRange[]): void {
    this.#seedRanges = seedRanges;
  }

  /** Discards the orders of cells, because the limits have changed. */
  renew(): void {
    this.#orders.clear();
  }

  /**
   * Evicts cells for a writer until `excess` returns 0 or less, at most `most` cells. A user's tile replaces the least
   * used cell, however often that cell is used. A seed's tile replaces only a cell that is not in use.
   * @returns the number of evicted cells; undefined: no cell can be evicted
   */
  freeSpace(limit: Limit, writer: Writer, excess: () => bigint, most: number): Promise<number | undefined> {
    const key = `${writer} ${limit.name}`;
    return this.#queue.add(async () => {
      try {
        const evicted = await this.#evictFrom(this.#order(key, limit, writer), excess, most);
        if (evicted !== undefined) return evicted;
        // The cached order may lack cells that were written after it was made. Makes a new order, and tries once more.
        this.#orders.delete(key);
        return await this.#evictFrom(this.#order(key, limit, writer), excess, most);
      } catch (error) {
        this.#orders.delete(key);
        throw error;
      }
    });
  }

  #order(key: string, limit: Limit, writer: Writer): Victims {
    const now = this.#parts.ledger.clock.now();
    const known = this.#orders.get(key);
    if (known !== undefined && known.untilMs > now) return known.order;
    const order = this.#victims(limit, [writer === "seed" ? "cold" : "any"]);
    this.#orders.set(key, { order, untilMs: now + ORDER_MS });
    return order;
  }

  /** Returns a function that evicts one batch of cells for a clean-up of a limit, like `freeSpace`. */
  cleanUp(limit: Limit): (excess: () => bigint, most: number) => Promise<number | undefined> {
    // While seeds run, unused cells are evicted first, so that seeds evict neither their own tiles nor tiles in use.
    const victims = this.#victims(limit, this.#seedRanges().length > 0 ? ["cold", "any"] : ["any"]);
    return (excess, most) => this.#queue.add(() => this.#evictFrom(victims, excess, most));
  }

  async #evictFrom(victims: Victims, excess: () => bigint, most: number): Promise<number | undefined> {
    const found = await new Slices(this.#parts.ledger.clock).run(this.#take(victims, excess(), most));
    if (found.length === 0) return undefined;
    // Writers may have released space during the search. The search restarts so that it finds the remaining cells
    // again, which may be used or pinned by then.
    const needed = found.slice(0, this.#cellsFor(excess(), found));
    if (needed.length < found.length) victims.restart();
    this.#evict(needed);
    return needed.length;
  }

  /** Takes the least used cells until their counted sizes add up to `bytes`, but at least one cell. */
  *#take(victims: Victims, bytes: bigint, most: number): Generator<undefined, ColdCell[]> {
    const batch: ColdCell[] = [];
    // A layer's floor is compared with the stored tiles, so a cell must be evicted before the next cell is chosen.
    const largest = this.#parts.options().floors.length > 0 ? 1 : most;
    let tiles = 0;
    do {
      const victim = yield* victims.next();
      if (victim === undefined) break;
      batch.push(victim);
      tiles += victim.tiles;
    } while (batch.length < largest && tiles < TILES_AT_ONCE && this.#cellsFor(bytes, batch) === batch.length + 1);
    return batch;
  }

  /** Returns the cells to evict: for each choice in turn, the stages of the limit in turn. */
  #victims(limit: Limit, choices: readonly Choice[]): Victims {
    const { ledger } = this.#parts;
    const makers = choices.flatMap((choice) =>
      limit.stages.map(
        (ofLayer) => () =>
          ledger.eviction.coldest({
            order: limit.policy,
            ofLayer,
            keep: this.#keep(choice),
            colderThan: choice === "cold" ? decayedFrequency(0, ledger.clock.now(), 1) : Number.POSITIVE_INFINITY,
          }),
      ),
    );
    return new Victims(makers);
  }

  #keep(choice: Choice): Keep {
    const { ledger, options } = this.#parts;
    const { pins, floors, count } = options();
    const minimumOf = new Map(floors.map(({ layer, bytes }) => [layer, bytes]));
    return (tileSet, rect, size) => {
      const minimum = minimumOf.get(tileSet.layer);
      const counted = (): bigint =>
        countedSize(ledger.sums.of(tileSet.layer), count) - BigInt(countedSize(size, count));
      if (minimum !== undefined && counted() < minimum) return "all";
      const pinned = covered(tileSet, rect, pins);
      if (pinned === "all" || choice === "any") return pinned;
      const seeded = covered(
        tileSet,
        rect,
        this.#seedRanges().filter((r) => r.format === tileSet.format && r.parametersId === tileSet.parametersId),
      );
      return seeded === "none" ? pinned : seeded;
    };
  }

  #evict(cells: readonly ColdCell[]): void {
    if (cells.length === 0) return;
    const before = this.#parts.ledger.sums.total;
    const [tiles, bytes] = [before.tiles, before.bytes];
    for (const cell of this.#parts.ledger.eviction.evict(cells)) this.#parts.evicted(cell);
    const after = this.#parts.ledger.sums.total;
    this.tiles += Number(tiles - after.tiles);
    this.bytes += Number(bytes - after.bytes);
  }

  /**
   * Returns how many of the cells, beginning with the first, must be evicted to free `bytes`. Returns one more than the
   * number of cells if all cells together are smaller.
   */
  #cellsFor(bytes: bigint, cells: readonly ColdCell[]): number {
    const { count } = this.#parts.options();
    let rest = bytes;
    let needed = 0;
    for (const cell of cells) {
      if (rest <= 0n) break;
      rest -= BigInt(Math.max(1, countedSize(cell, count)));
      needed++;
    }
    return rest > 0n ? needed + 1 : needed;
  }
}

/** Yields the cells of several eviction orders in sequence. Makes each order when the previous one is exhausted. */
class Victims {
  readonly #makers: readonly (() => EvictionOrder)[];
  #made = 0;
  #order: EvictionOrder | undefined;

  constructor(makers: readonly (() => EvictionOrder)[]) {
    this.#makers = makers;
  }

  *next(): Generator<undefined, ColdCell | undefined> {
    for (;;) {
      const cell = this.#order === undefined ? undefined : yield* this.#order.next();
      if (cell !== undefined) return cell;
      const make = this.#makers[this.#made];
      if (make === undefined) return undefined;
      this.#made++;
      this.#order = make();
    }
  }

  /** Begins again with the first order. */
  restart(): void {
    this.#made = 0;
    this.#order = undefined;
  }
}
