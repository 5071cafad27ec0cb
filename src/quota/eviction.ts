import type { TileRect } from "../grid/grid-set.ts";
import type { TileSet } from "../layer/tile-set.ts";
import type { ColdCell, EvictionOrder, Keep } from "../ledger/eviction-order.ts";
import { decayedFrequency } from "../ledger/heat.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type Area, covered, type EvictionOptions } from "./eviction-options.ts";
import type { Limit } from "./limits.ts";
import type { Writer } from "./reservations.ts";

/** Tiles that running seeds store or count as stored. They are spared while other tiles can be evicted. */
export interface SeedRange extends Area {
  readonly format: string;
  readonly parametersId: string;
}

export interface EvictionParts {
  readonly ledger: Pick<Ledger, "eviction" | "sumOf" | "total">;
  readonly options: () => EvictionOptions;
  /** Called when tiles have been evicted from the store. */
  readonly evicted: (tileSet: TileSet, rect: TileRect) => void;
  readonly now: () => number;
}

/**
 * Which cells may be evicted, outside of pinned areas and the floors of layers. "any": all others, in the order of the
 * policy. "cold": cells that no running seed stores and that are used less than a cell written at this moment, so no
 * tile in them was read again recently.
 */
type Choice = "any" | "cold";

/** An order of cells is used for this time. Cells written since are not part of it. */
const ORDER_MS = 5_000;

/** Evicts cells from the store, the coldest first, and counts the evicted tiles and bytes. */
export class Eviction {
  readonly #parts: EvictionParts;
  #seedRanges: () => readonly SeedRange[] = () => [];
  readonly #orders = new Map<string, { readonly order: Victims; readonly untilMs: number }>();
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
   * Evicts cells for a writer until `bytes` are free, at most `most` cells. A user's tile replaces the coldest cell,
   * however often it is used. A seed's tile replaces only a cell that is not in use.
   * @returns the number of evicted cells
   */
  makeRoom(limit: Limit, writer: Writer, bytes: bigint, most: number): number {
    const key = `${writer} ${limit.name}`;
    const batch = this.#take(this.#order(key, limit, writer), bytes, most);
    if (batch.length === 0) {
      // The order may be older than the last cells.
      this.#orders.delete(key);
      batch.push(...this.#take(this.#order(key, limit, writer), bytes, most));
    }
    this.#evict(batch);
    return batch.length;
  }

  #order(key: string, limit: Limit, writer: Writer): Victims {
    const now = this.#parts.now();
    const known = this.#orders.get(key);
    if (known !== undefined && known.untilMs > now) return known.order;
    const order = this.#victims(limit, [writer === "seed" ? "cold" : "any"]);
    this.#orders.set(key, { order, untilMs: now + ORDER_MS });
    return order;
  }

  /** Returns a function that evicts one batch of cells for a clean-up towards a limit. */
  cleanUp(limit: Limit): (bytes: bigint, most: number) => number {
    // While seeds run, unused cells are evicted first, so that seeds neither evict their own tiles nor tiles in use.
    const victims = this.#victims(limit, this.#seedRanges().length > 0 ? ["cold", "any"] : ["any"]);
    return (bytes, most) => {
      const batch = this.#take(victims, bytes, most);
      this.#evict(batch);
      return batch.length;
    };
  }

  /** Takes the coldest cells until they hold `bytes` together. Without the last of them, they hold less than needed. */
  #take(victims: Victims, bytes: bigint, most: number): ColdCell[] {
    const batch: ColdCell[] = [];
    // A layer's floor is compared with the stored bytes, so a cell has to be evicted before the next one is chosen.
    const largest = this.#parts.options().floors.length > 0 ? 1 : most;
    for (let rest = bytes; rest > 0n && batch.length < largest; ) {
      const victim = victims.next();
      if (victim === undefined) break;
      batch.push(victim);
      rest -= BigInt(Math.max(1, victim.bytes));
    }
    return batch;
  }

  /** Returns the cells to evict: for each choice in turn, the stages of the limit in turn. */
  #victims(limit: Limit, choices: readonly Choice[]): Victims {
    const { ledger, now } = this.#parts;
    const makers = choices.flatMap((choice) =>
      limit.stages.map(
        (ofLayer) => () =>
          ledger.eviction.coldest({
            order: limit.policy,
            ofLayer,
            keep: this.#keep(choice),
            colderThan: choice === "cold" ? decayedFrequency(0, now(), 1) : Number.POSITIVE_INFINITY,
          }),
      ),
    );
    return new Victims(makers);
  }

  #keep(choice: Choice): Keep {
    const { ledger, options } = this.#parts;
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
        this.#seedRanges().filter((r) => r.format === tileSet.format && r.parametersId === tileSet.parametersId),
      );
      return seeded === "none" ? pinned : seeded;
    };
  }

  #evict(cells: readonly ColdCell[]): void {
    if (cells.length === 0) return;
    const before = this.#parts.ledger.total;
    const [tiles, bytes] = [before.tiles, before.bytes];
    for (const { tileSet, rect } of this.#parts.ledger.eviction.evict(cells)) this.#parts.evicted(tileSet, rect);
    const after = this.#parts.ledger.total;
    this.tiles += Number(tiles - after.tiles);
    this.bytes += Number(bytes - after.bytes);
  }
}

/** Orders of cells in sequence. Each order is made when the previous one is exhausted. */
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
