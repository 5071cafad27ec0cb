import { existsSync } from "node:fs";
import { join } from "node:path";
import { bucketDirectory, tileFile, zoomDirectory } from "../../src/store/file/file-layout.ts";
import type { Chance } from "./chance.ts";
import type { Floors } from "./floors.ts";
import { type Mark, type MarkedMap, marksOf } from "./marked-map.ts";
import type { WalkRecord } from "./walk-record.ts";
import { formatsOf, offers, STORED, stylesOf, type WalkServer } from "./walk-server.ts";
import {
  addressOf,
  boxOf,
  columnsOf,
  GRID_NAMES,
  mapAddress,
  nameOf,
  PROTOCOLS,
  parametersId,
  type Tile,
  WALK_LAYERS,
  ZOOM_STOP,
} from "./walk-tiles.ts";

/** Counters of events that may change the answer of an open request. */
export interface Epochs {
  /** Restarts, including a restart in progress. */
  restarts: number;
  /** Numbers of sent reloads and of answered reloads. */
  reloadsSent: number;
  reloadsAnswered: number;
}

/** Users who request tiles and record the answers. */
export class WalkReader {
  readonly #server: WalkServer;
  readonly #map: MarkedMap;
  readonly #floors: Floors<Tile>;
  readonly #record: WalkRecord;
  readonly #epochs: Epochs;
  readonly #etags = new Map<string, { readonly etag: string; readonly version: number }>();
  /** Tiles of the kept layer that were on the disk when they were answered, with their versions. */
  readonly stored = new Map<string, { readonly tile: Tile; readonly version: number; readonly sinceMs: number }>();
  readonly results = new Map<string, number>();

  constructor(server: WalkServer, map: MarkedMap, floors: Floors<Tile>, record: WalkRecord, epochs: Epochs) {
    this.#server = server;
    this.#map = map;
    this.#floors = floors;
    this.#record = record;
    this.#epochs = epochs;
  }

  /**
   * Picks a tile, mostly from a small set that is read repeatedly, which includes the corner of four blocks of the
   * ledger.
   */
  pick({ below, pick }: Chance): Tile {
    const layer = pick(WALK_LAYERS);
    const grid = layer === STORED ? "EPSG:900913" : (GRID_NAMES[below(5) === 0 ? 1 : 0] ?? "EPSG:900913");
    const style = stylesOf(layer)[Math.max(0, below(5) - 2)] ?? "";
    const format = pick(formatsOf(layer));
    const z = pick([1, 2, 3, 4, 4, 5, 5, 8]);
    const near = (most: number): number => (z === ZOOM_STOP ? 120 + below(16) : below(most));
    return { layer, grid, style, format, z, x: near(columnsOf(grid, z)), y: near(2 ** z) };
  }

  async read(tile: Tile, chance: Chance): Promise<void> {
    const path = addressOf(tile, chance.pick(tile.style === "" ? PROTOCOLS : PROTOCOLS.filter((p) => p !== "tms")));
    const known = chance.below(3) === 0 ? this.#etags.get(path) : undefined;
    await this.#get([tile], path, known);
  }

  /** A map of several whole tiles. */
  async readMap(tile: Tile): Promise<void> {
    const [width, height] = [Math.min(2, columnsOf(tile.grid, tile.z) - tile.x), Math.min(2, 2 ** tile.z - tile.y)];
    const tiles: Tile[] = [];
    for (let y = height - 1; y >= 0; y--)
      for (let x = 0; x < width; x++) tiles.push({ ...tile, x: tile.x + x, y: tile.y + y });
    await this.#get(tiles, mapAddress(tile, boxOf(tile.grid, tile, [width, height]), [width, height]), undefined);
  }

  async #get(
    tiles: readonly Tile[],
    path: string,
    known: { readonly etag: string; readonly version: number } | undefined,
  ): Promise<void> {
    const [tile] = tiles;
    if (tile === undefined) return;
    const before = { ...this.#epochs };
    const sentMs = performance.now();
    const wasOffered = offers(this.#server.settings, tile);
    const floors = tiles.map((one) => this.#floors.of(one));
    const what = `GET ${path} (${nameOf(tile)})`;
    let response: Response;
    let bytes: Uint8Array;
    try {
      response = await fetch(
        this.#server.now.url + path,
        known === undefined ? {} : { headers: { "If-None-Match": known.etag } },
      );
      bytes = new Uint8Array(await response.arrayBuffer());
    } catch (error) {
      if (this.#epochs.restarts === before.restarts && !this.#record.excuses(sentMs))
        this.#record.problem(`${what}: expected an answer, got ${String(error)}`);
      return;
    }
    const { status, headers } = response;
    const result = status === 200 ? (headers.get("geowebcache-cache-result") ?? "none") : String(status);
    this.results.set(result, (this.results.get(result) ?? 0) + 1);
    const isReloading = this.#epochs.reloadsSent !== before.reloadsAnswered;
    if (status === 304 && known !== undefined)
      return this.#compare(what, [{ tile, version: known.version }], floors, "304", sentMs);
    if (status !== 200) {
      const text = Buffer.from(bytes).toString("utf8").slice(0, 200);
      const expected =
        status >= 500
          ? this.#record.excuses(sentMs) || this.#epochs.restarts !== before.restarts
          : !wasOffered || isReloading;
      if (!expected) this.#record.problem(`${what}: expected a tile, got ${status} ${text}`);
      return;
    }
    if (!wasOffered && !isReloading)
      this.#record.problem(`${what}: expected a refusal, got a tile that is not configured`);
    let marks: readonly Mark[];
    try {
      marks = await marksOf(bytes);
    } catch (error) {
      return this.#record.problem(
        `${what}: expected a tile of the map, got ${bytes.byteLength} bytes: ${String(error)}`,
      );
    }
    for (const [n, one] of tiles.entries()) {
      const shown = marks[n]?.tile;
      const { format, ...expected } = one;
      if (
        shown === undefined ||
        JSON.stringify(Object.entries(shown).sort()) !== JSON.stringify(Object.entries(expected).sort())
      )
        this.#record.problem(`${what}: expected ${nameOf(one)}, got the picture of ${JSON.stringify(shown)}`);
    }
    const versions = tiles.map((one, n) => ({ tile: one, version: marks[n]?.version ?? -1 }));
    this.#compare(what, versions, floors, result, sentMs);
    const etag = headers.get("etag");
    if (etag !== null && tiles.length === 1) this.#etags.set(path, { etag, version: marks[0]?.version ?? 0 });
  }

  #compare(
    what: string,
    shown: readonly { readonly tile: Tile; readonly version: number }[],
    floors: readonly number[],
    result: string,
    sentMs: number,
  ): void {
    for (const [n, { tile, version }] of shown.entries()) {
      // An undo that was sent in between may have restored an older tile.
      const oldest = Math.min(floors[n] ?? 0, this.#floors.of(tile));
      if (version < oldest)
        this.#record.problem(
          `${what}: expected version ${oldest} or later of ${nameOf(tile)}, got ${result} of version ${version}`,
        );
      if (version > this.#map.version) this.#record.problem(`${what}: version ${version} has not been rendered yet`);
      this.#record.note(`${nameOf(tile)}: ${result} of version ${version}, expected ${oldest} or later`);
      if (tile.layer === STORED) this.#compareStored(tile, version, result, sentMs);
    }
  }

  /** A seed that found the tile missing before a user's miss was stored may render it once more, never an older one. */
  #compareStored(tile: Tile, version: number, result: string, sentMs: number): void {
    const name = nameOf(tile);
    const known = this.stored.get(name);
    if (known === undefined) {
      if (existsSync(this.fileOf(tile))) this.stored.set(name, { tile, version, sinceMs: performance.now() });
    } else if (known.sinceMs < sentMs && (version < known.version || result === "MISS"))
      this.#record.problem(
        `${name} was stored in version ${known.version}: expected a hit of it, got ${result} of ${version}`,
      );
  }

  fileOf({ layer, grid, style, format, z, x, y }: Tile): string {
    const place = [zoomDirectory(grid, z, parametersId(style)), bucketDirectory(x, y, z), tileFile(x, y, z, format)];
    return join(this.#server.now.dataDir, "tiles", layer, ...place);
  }
}
