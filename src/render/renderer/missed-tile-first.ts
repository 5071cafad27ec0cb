import type { TileIndex } from "../../grid/grid-set.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { turn } from "../../lib/time/sleep.ts";
import type { RenderOrder, WrittenTile } from "../render-order.ts";
import {
  type KeepParts,
  keepTiles,
  notStored,
  type PositionedTile,
  type RenderedTile,
  type StoredTiles,
} from "./store-tiles.ts";
import { mayStoreAll, type TileReservationParts } from "./tile-reservation.ts";

/** Tiles of a metatile that a renderer reports before the whole metatile is done. */
export interface EarlyTiles {
  /** Stored tiles. The final result does not contain them again. */
  readonly written: readonly WrittenTile[];
  /** The missed tile, and all tiles that could not be stored, because users cannot read these from the store. */
  readonly tiles: readonly RenderedTile[];
}

/** The renderer's view of the user who waits for a render. */
export interface WaitingUser {
  /** The tile that is encoded and stored first. */
  readonly missed: TileIndex;
  /** Called in the turn of the event loop in which tiles were stored, before any other message is handled. */
  readonly report: (early: EarlyTiles) => void;
}

type Position = Omit<PositionedTile, "bytes">;

/**
 * Encodes a tile.
 * @param inHaste whether tiles are encoded concurrently on all cores
 */
export type Encode = (position: Position, inHaste: boolean) => Promise<Uint8Array>;

interface StoreParts extends KeepParts, TileReservationParts {
  readonly clock: Clock;
  readonly storing: (busy: boolean) => void;
}

/**
 * Stores the tiles of a metatile in several steps. After a truncation between two steps, the later steps store nothing.
 */
class Steps {
  readonly #order: RenderOrder;
  readonly #user: WaitingUser;
  readonly #parts: StoreParts;
  readonly #signal: AbortSignal;
  #result: StoredTiles = { written: [], stale: false, storeFailure: undefined };

  constructor(order: RenderOrder, user: WaitingUser, parts: StoreParts, signal: AbortSignal) {
    this.#order = order;
    this.#user = user;
    this.#parts = parts;
    this.#signal = signal;
  }

  /** The result of all steps. `written` is empty, because each step has already reported the tiles that it wrote. */
  get result(): StoredTiles {
    return this.#result;
  }

  /**
   * Reserves space, stores the tiles and reports them.
   * @throws the signal's reason, before anything is stored
   */
  async keep(tiles: readonly PositionedTile[]): Promise<void> {
    if (tiles.length === 0) return;
    const { missed, report } = this.#user;
    if (!this.#result.stale && this.#result.storeFailure === undefined) {
      const answer = await mayStoreAll(this.#order, [tiles], this.#parts, this.#signal);
      if (answer !== "store") this.#result = notStored(answer);
    }
    const { stale, storeFailure } = this.#result;
    this.#parts.storing(true);
    try {
      const stored =
        stale || storeFailure !== undefined
          ? undefined
          : await keepTiles(this.#order, tiles, this.#parts, this.#signal);
      const written = stored?.written ?? [];
      if (stored !== undefined) this.#result = { ...stored, written: [] };
      const storedKeys = new Set(written.map(({ x, y }) => `${x}/${y}`));
      const isSent = ({ x, y }: RenderedTile) => (x === missed.x && y === missed.y) || !storedKeys.has(`${x}/${y}`);
      report({ written, tiles: tiles.filter(isSent).map(({ x, y, bytes }) => ({ x, y, bytes })) });
    } finally {
      this.#parts.storing(false);
    }
  }
}

/**
 * Encodes, stores and reports the tile that a user missed, then the other tiles of its metatile. The other tiles are
 * encoded on all cores, and are stored and reported as they become ready. The renderer handles messages between two
 * tiles.
 * @throws the signal's reason; tiles stored before that have been reported
 */
export async function keepMissedFirst(
  order: RenderOrder,
  positions: readonly Position[],
  encode: Encode,
  user: WaitingUser,
  parts: StoreParts,
  signal: AbortSignal,
): Promise<StoredTiles> {
  const isMissed = ({ x, y }: Position): boolean => x === user.missed.x && y === user.missed.y;
  const first = positions.filter(isMissed);
  const tiles: PositionedTile[] = [];
  for (const position of first) tiles.push({ ...position, bytes: await encode(position, false) });
  signal.throwIfAborted();
  const steps = new Steps(order, user, parts, signal);
  await steps.keep(tiles);

  const ready: PositionedTile[] = [];
  let fault: { readonly error: unknown } | undefined;
  const isOver = (): boolean => fault !== undefined || signal.aborted;
  let storing: Promise<void> | undefined;
  const storeReady = async (): Promise<void> => {
    try {
      while (ready.length > 0 && !isOver()) {
        // All tiles that become ready until the next turn are stored in one step.
        await turn(parts.clock);
        await steps.keep(ready.splice(0));
      }
    } catch (error) {
      fault ??= { error };
    } finally {
      storing = undefined;
    }
  };
  const encodeAndStore = async (position: Position): Promise<void> => {
    try {
      ready.push({ ...position, bytes: await encode(position, true) });
      storing ??= storeReady();
    } catch (error) {
      fault ??= { error };
    }
  };
  const encoding: Promise<void>[] = [];
  for (const position of positions) {
    if (isMissed(position)) continue;
    await turn(parts.clock);
    if (isOver()) break;
    encoding.push(encodeAndStore(position));
  }
  // Waits for every encoding that was started before an error is thrown, so that nothing is stored afterwards.
  await Promise.all(encoding);
  await storing;
  // The ledger has to learn that the store may have taken a tile.
  if (steps.result.isUncertain === true) return steps.result;
  if (fault !== undefined) throw fault.error;
  signal.throwIfAborted();
  return steps.result;
}
