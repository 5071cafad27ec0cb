import TinyQueue from "tinyqueue";
import type { TileIndex, TileRect } from "../../../src/grid/grid-set.ts";
import { CELL_SIDE } from "../../../src/layer/cells.ts";
import { type TileSet, tileSetKey } from "../../../src/layer/tile-set.ts";
import { decayedFrequency } from "../../../src/ledger/blocks/access-frequency.ts";
import type { ExpirationPolicy } from "../../../src/quota/configuration/quota-configuration.ts";

/** A read of a tile. */
interface TileRead extends TileIndex {
  readonly tileSet: TileSet;
}

const cellKey = (tileSet: TileSet, x: number, y: number, z: number): string =>
  `${tileSetKey(tileSet)} ${z}/${Math.floor(x / CELL_SIDE)}/${Math.floor(y / CELL_SIDE)}`;
const tileInCell = (x: number, y: number): number => (y % CELL_SIDE) * CELL_SIDE + (x % CELL_SIDE);

/** Facts about tiles that a simulated cache needs. */
interface TileFacts {
  /** Returns the tiles that a miss stores: all tiles of the read tile's metatile. */
  metatile(read: TileRead): TileRect;
  bytes(read: TileRead): number;
}

interface Cell {
  /** Bytes of each stored tile, by its number in the cell. */
  readonly tiles: Map<number, number>;
  /** Tiles that have ever been read. */
  readonly read: Set<number>;
  bytes: number;
  lastUse: number;
  frequency: number;
}

interface Waiting {
  readonly cell: Cell;
  readonly key: number;
}

/**
 * Simulates a cache of a given size and policy from reads. Evicts at a write like the enforcer, without tiles. Before a
 * metatile is stored at or above the limit, the least used cells are evicted until usage is below the limit
 * (`access-frequency.ts` for LFU).
 */
export class CacheSimulation {
  readonly #limit: number;
  readonly #policy: ExpirationPolicy;
  readonly #facts: TileFacts;
  readonly #cells = new Map<string, Cell>();
  /** Cells by an earlier key. The current key is checked when a cell is taken from the queue. */
  readonly #waiting = new TinyQueue<Waiting>([], (a, b) => a.key - b.key);
  #clock = 0;
  hits = 0;
  /** Bytes stored now, and the maximum so far. */
  bytes = 0;
  mostBytes = 0;
  tilesDrawn = 0;

  constructor(limit: number, policy: ExpirationPolicy, facts: TileFacts) {
    this.#limit = limit;
    this.#policy = policy;
    this.#facts = facts;
  }

  /** Simulates a read. */
  read(read: TileRead, atMs: number): void {
    const { tileSet, x, y, z } = read;
    const cell = this.#cell(cellKey(tileSet, x, y, z));
    const tile = tileInCell(x, y);
    this.#use(cell, tile, atMs);
    if (cell.tiles.has(tile)) {
      this.hits++;
      return;
    }
    this.#evict();
    if (this.#limit > 0) this.#store(read, atMs);
  }

  #cell(key: string): Cell {
    const known = this.#cells.get(key);
    if (known !== undefined) return known;
    const cell: Cell = { tiles: new Map(), read: new Set(), bytes: 0, lastUse: 0, frequency: 0 };
    this.#cells.set(key, cell);
    return cell;
  }

  #use(cell: Cell, tile: number, atMs: number): void {
    const again = cell.read.has(tile);
    cell.read.add(tile);
    if (cell.tiles.size === 0) return;
    cell.lastUse = ++this.#clock;
    if (again) cell.frequency = decayedFrequency(cell.frequency, atMs, 1);
  }

  #store(read: TileRead, atMs: number): void {
    const { tileSet, z } = read;
    const bytes = this.#facts.bytes(read);
    const { minX, minY, maxX, maxY } = this.#facts.metatile(read);
    for (let y = minY; y <= maxY; y++) {
      for (let x = minX; x <= maxX; x++) {
        const cell = this.#cell(cellKey(tileSet, x, y, z));
        const before = cell.tiles.get(tileInCell(x, y)) ?? 0;
        cell.tiles.set(tileInCell(x, y), bytes);
        cell.bytes += bytes - before;
        this.bytes += bytes - before;
        this.tilesDrawn++;
        cell.lastUse = ++this.#clock;
        if (cell.frequency !== 0) continue;
        cell.frequency = decayedFrequency(0, atMs, 1);
        this.#waiting.push({ cell, key: this.#key(cell) });
      }
    }
    this.mostBytes = Math.max(this.mostBytes, this.bytes);
  }

  #key(cell: Cell): number {
    return this.#policy === "LRU" ? cell.lastUse : cell.frequency;
  }

  #evict(): void {
    while (this.bytes >= this.#limit) {
      const next = this.#waiting.pop();
      if (next === undefined) return;
      const { cell, key } = next;
      if (cell.tiles.size === 0) continue;
      if (this.#key(cell) > key) {
        this.#waiting.push({ cell, key: this.#key(cell) });
        continue;
      }
      this.bytes -= cell.bytes;
      cell.tiles.clear();
      cell.bytes = 0;
      cell.frequency = 0;
      cell.lastUse = 0;
    }
  }
}
