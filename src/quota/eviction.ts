import type { TileRect } from "../grid/grid-set.ts";
import type { TileSet } from "../layer/tile-set.ts";
import type { ColdCell, EvictionOrder, Keep } from "../ledger/eviction-order.ts";
import { decayedFrequency } from "../ledger/heat.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type Area, covered, type EvictionOptions } from "./eviction-options.ts";
import type { Limit } from "./limits.ts";
import type { Writer } from "./reservations.ts";

/** Tiles that running seeds store or count as stored: spared while anything else can go. */
export interface SeedRange extends Area {
  readonly format: string;
  readonly parametersId: string;
}

export interface EvictionParts {
  readonly ledger: Ledger;
  readonly options: () => EvictionOptions;
  readonly seedRanges: () => readonly SeedRange[];
  /** Tiles have left the store. */
  readonly evicted: (tileSet: TileSet, rect: TileRect) => void;
  readonly now: () => number;
}

/**
 * What may go: "any" cell, in the order of the policy; "cold" ones that no running seed stores and that are less used than
 * a cell written at this moment (nothing in it was read again lately).
 */
type Choice = "any" | "cold";

/** An order of cells is walked for so long; what was born since is not in it. */
const ORDER_MS = 5_000;

/** Removes cells from the store, the coldest first, and counts what went. */
export class Eviction {
  readonly #parts: EvictionParts;
  readonly #orders = new Map<string, { readonly order: Victims; readonly untilMs: number }>();
  tiles = 0;
  bytes = 0;

  constructor(parts: EvictionParts) {
    this.#parts = parts;
  }

  /** The limits have changed: orders that were made for others are not used any more. */
  renew(): void {
    this.#orders.clear();
  }

  /**
   * Evicts cells for a writer until `bytes` have gone, `most` cells at most. A user's tile takes the place of the coldest
   * cell, whatever that is; a seed's only that of one that nobody uses. @returns how many cells went
   */
  makeRoom(limit: Limit, writer: Writer, bytes: bigint, most: number): number {
    const key = `${writer} ${limit.name}`;
    const batch = this.#take(this.#order(key, limit, writer), bytes, most);
    if (batch.length === 0) {
      // The order may have been made before the last cells were born.
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

  /** What a clean-up towards a limit evicts, a batch at a time. */
  cleanUp(limit: Limit): (bytes: bigint, most: number) => number {
    // While seeds run, what nobody uses goes first, so that they neither chase their own tiles nor push out what is used.
    const victims = this.#victims(limit, this.#parts.seedRanges().length > 0 ? ["cold", "any"] : ["any"]);
    return (bytes, most) => {
      const batch = this.#take(victims, bytes, most);
      this.#evict(batch);
      return batch.length;
    };
  }

  /** The coldest cells, until they hold `bytes` together: the last of them is the only one that holds more than is needed. */
  #take(victims: Victims, bytes: bigint, most: number): ColdCell[] {
    const batch: ColdCell[] = [];
    // A floor is held against what is stored, so what is in hand has to be gone before the next is chosen.
    const largest = this.#parts.options().floors.length > 0 ? 1 : most;
    for (let rest = bytes; rest > 0n && batch.length < largest; ) {
      const victim = victims.next();
      if (victim === undefined) break;
      batch.push(victim);
      rest -= BigInt(Math.max(1, victim.bytes));
    }
    return batch;
  }

  /** Stage by stage of the limit, for one choice after the other. */
  #victims(limit: Limit, choices: readonly Choice[]): Victims {
    const { ledger, now } = this.#parts;
    const makers = choices.flatMap((choice) =>
      limit.stages.map(
        (ofLayer) => () =>
          ledger.coldest({
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
    if (cells.length === 0) return;
    const before = this.#parts.ledger.total;
    const [tiles, bytes] = [before.tiles, before.bytes];
    for (const { tileSet, rect } of this.#parts.ledger.evict(cells)) this.#parts.evicted(tileSet, rect);
    const after = this.#parts.ledger.total;
    this.tiles += Number(tiles - after.tiles);
    this.bytes += Number(bytes - after.bytes);
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
