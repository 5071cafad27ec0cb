import type { RequesterOf, TileOutcome, TileReader, TileRequest } from "./tile-reader.ts";

/** Reads the tiles of a node that may be disconnected from its lead. While it is, marks and counts the tiles. */
export class CutOffReader implements TileReader {
  readonly #reader: TileReader;
  readonly #isCutOff: () => boolean;
  /** The number of tiles served while the node was disconnected. */
  tiles = 0;

  constructor(reader: TileReader, isCutOff: () => boolean) {
    this.#reader = reader;
    this.#isCutOff = isCutOff;
  }

  read(request: TileRequest, requester: RequesterOf): TileOutcome | Promise<TileOutcome> {
    if (!this.#isCutOff()) return this.#reader.read(request, requester);
    const outcome = this.#reader.read(request, requester);
    return outcome instanceof Promise ? outcome.then((one) => this.#marked(one)) : this.#marked(outcome);
  }

  #marked(outcome: TileOutcome): TileOutcome {
    if (outcome.kind !== "tile") return outcome;
    this.tiles++;
    return { kind: "tile", tile: { ...outcome.tile, detail: "cut-off" } };
  }
}
