import type { TileIndex } from "../../grid/grid-set.ts";
import type { EarlyTiles } from "../renderer/missed-tile-first.ts";
import type { RenderedForUser } from "../user-renders.ts";

type EarlyAnswer = Extract<RenderedForUser, { readonly kind: "rendered" | "stored" }>;

/** Answers for users from a render in progress: tiles that are stored, and tiles that cannot be stored. */
export class EarlyAnswers {
  readonly #known = new Map<string, EarlyAnswer>();
  readonly #waiting = new Map<string, (() => void)[]>();

  /** Whether the renderer has reported a tile. */
  get hasBegun(): boolean {
    return this.#known.size > 0;
  }

  /**
   * Answers the users who wait for one of these tiles, and remembers the answers for later requests.
   * @param isStale as in `RenderedForUser`
   */
  add({ written, tiles }: EarlyTiles, isStale: boolean): void {
    for (const tile of tiles)
      this.#know(tile, { kind: "rendered", tiles: [tile], ...(isStale ? { isStale: true } : {}) });
    for (const tile of written) if (!this.#known.has(keyOf(tile))) this.#know(tile, { kind: "stored" });
  }

  #know(tile: AnswerPosition, answer: EarlyAnswer): void {
    const key = keyOf(tile);
    this.#known.set(key, answer);
    for (const report of this.#waiting.get(key) ?? []) report();
    this.#waiting.delete(key);
  }

  /**
   * Waits for the tile. Undefined if the render ended without the tile.
   * @throws the error with which `ended` rejects
   */
  async of(tile: TileIndex, ended: Promise<unknown>): Promise<EarlyAnswer | undefined> {
    const key = keyOf(tile);
    if (!this.#known.has(key)) {
      const known = new Promise<void>((report) => {
        this.#waiting.set(key, [...(this.#waiting.get(key) ?? []), report]);
      });
      await Promise.race([known, ended]);
    }
    return this.#known.get(key);
  }
}

type AnswerPosition = Pick<TileIndex, "x" | "y">;

const keyOf = ({ x, y }: AnswerPosition): string => `${x}/${y}`;
