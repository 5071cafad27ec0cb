import type { Documents } from "../../http/api/documents/documents.ts";
import { encodePack, type PackedTile } from "../../http/api/tiles/tile-pack.ts";
import type { ReceivedValue } from "../client/answer.ts";
import { parseAnswer } from "../client/answer.ts";
import { LONG_LIMIT_MS, retryWhileBusy } from "../client/retry-wait.ts";
import type { ServerClient } from "../client/server-client.ts";

/** The size of a batch, below the server's limits of one request. */
const MOST_TILES = 1_000;
const MOST_BYTES = 12 * 1024 * 1024;

export interface ImportResult {
  stored: number;
  unchanged: number;
  kept: number;
  refused: number;
  readonly reasons: { readonly tile: string; readonly reason: string }[];
}

/** The most reasons that are shown. */
export const MOST_REASONS = 20;

export interface BatchOptions {
  readonly client: ServerClient;
  /** The query of `/api/v1/tiles/import`: the tile set, and whether stored tiles are replaced. */
  readonly query: Readonly<Record<string, string>>;
  readonly report: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Sends tiles in batches. Fills the next batch while the server receives the last one. */
export class TileBatches {
  readonly #options: BatchOptions;
  readonly result: ImportResult = { stored: 0, unchanged: 0, kept: 0, refused: 0, reasons: [] };
  #batch: PackedTile[] = [];
  #bytes = 0;
  #sending: Promise<void> | undefined;

  constructor(options: BatchOptions) {
    this.#options = options;
  }

  /** Adds a tile. Waits if two batches are full. */
  async add(tile: PackedTile): Promise<void> {
    if (this.#batch.length >= MOST_TILES || this.#bytes + tile.bytes.byteLength > MOST_BYTES) await this.#next();
    this.#batch.push(tile);
    this.#bytes += tile.bytes.byteLength;
  }

  /** Counts a tile that is not sent. */
  refuse(tile: string, reason: string): void {
    this.result.refused++;
    if (this.result.reasons.length < MOST_REASONS) this.result.reasons.push({ tile, reason });
  }

  /** Sends the remaining tiles, and waits for all answers. */
  async end(): Promise<void> {
    await this.#next();
    await this.#sending;
  }

  async #next(): Promise<void> {
    await this.#sending;
    if (this.#batch.length === 0) return;
    const body = encodePack(this.#batch);
    this.#batch = [];
    this.#bytes = 0;
    this.#sending = this.#send(body);
    // The next call, or `end`, throws a failure.
    this.#sending.catch(() => undefined);
  }

  async #send(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const { client, query, report, signal } = this.#options;
    const request = (): Promise<Uint8Array> => client.exchangeBytes("/api/v1/tiles/import", { query, bytes });
    const text = Buffer.from(await retryWhileBusy(client.clock, request, report, signal, LONG_LIMIT_MS)).toString(
      "utf8",
    );
    const { stored, unchanged, kept, refused, reasons }: ReceivedValue<Documents["TileImport"]> = parseAnswer(text);
    this.result.stored += stored;
    this.result.unchanged += unchanged;
    this.result.kept += kept;
    this.result.refused += refused;
    this.result.reasons.push(...reasons.slice(0, MOST_REASONS - this.result.reasons.length));
  }
}
