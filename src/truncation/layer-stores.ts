import type { Ledger } from "../ledger/ledger.ts";
import type { Logger } from "../lib/process/logger.ts";
import { type Database, type Migrations, text } from "../state/database.ts";
import { DEFAULT_LOCATION } from "../store/store-options.ts";
import type { LedgerTruncations } from "./truncations.ts";

export const layerStoreMigrations: Migrations = {
  module: "layer_stores",
  // A layer without a row has its tiles where the row without a name says; without that one, in the default store.
  steps: ["CREATE TABLE layer_store (layer TEXT PRIMARY KEY, location TEXT NOT NULL);"],
};

/** The name of the row of layers without a row of their own. No layer has it. */
const OTHERS = "";

export interface LayerStoresParts {
  readonly db: Database;
  readonly ledger: Pick<Ledger, "truncated" | "tileSets">;
  readonly truncations: Pick<LedgerTruncations, "deleteRecords">;
  /** Returns where the tiles of each configured layer are, by layer. `only`: the layers to return; absent: all. */
  readonly locations: (only?: ReadonlySet<string>) => ReadonlyMap<string, string>;
  /** Where the tiles of layers are that name no store; undefined: there are none. */
  readonly firstLocation: string | undefined;
  /** Gives up the tiles that truncations of a layer have set aside. */
  readonly giveUp: (layer: string) => void;
  readonly log: Logger;
}

/**
 * Remembers in which store each layer has its tiles. When a layer gets another store, its records are deleted and an
 * adoption counts the tiles in the new store. Its tiles in the old store stay there. Nothing reads or counts them, and
 * truncations of the layer remove them too.
 */
export class LayerStores {
  readonly #parts: LayerStoresParts;
  /** Where the tiles of layers without a row are. */
  readonly #others: string;

  constructor(parts: LayerStoresParts) {
    this.#parts = parts;
    const recorded = new Set([...parts.ledger.tileSets()].map(({ tileSet }) => tileSet.layer));
    if (recorded.size === 0) this.#begin();
    const others = parts.db.prepare("SELECT location FROM layer_store WHERE layer = ?").get(OTHERS);
    this.#others = others === undefined ? DEFAULT_LOCATION : text(others, "location");
    // No writer has begun yet.
    const moved = this.#moved();
    for (const [layer, location] of moved.filter(([name]) => recorded.has(name))) {
      this.#leave(layer);
      parts.ledger.truncated.truncate({ layer }, undefined, () => this.#record(layer, location));
    }
    // A transaction for each of thousands of layers would take long.
    const empty = moved.filter(([name]) => !recorded.has(name));
    if (empty.length === 0) return;
    for (const [layer] of empty) parts.giveUp(layer);
    parts.db.transaction(() => {
      for (const [layer, location] of empty) this.#record(layer, location);
    });
  }

  /** Records where the tiles of all layers will be, in a database without tiles: no layer needs a row of its own then. */
  #begin(): void {
    const { db, firstLocation: location, locations, giveUp } = this.#parts;
    if (location === undefined || location === DEFAULT_LOCATION) return;
    if (db.prepare("SELECT 1 FROM layer_store LIMIT 1").get() !== undefined) return;
    for (const layer of locations().keys()) giveUp(layer);
    this.#record(OTHERS, location);
  }

  /**
   * Compares the stores of a changed configuration with the recorded ones. Returns the layers that have another one.
   * `only`: the layers that may have changed; undefined: any layer.
   */
  async reconfigured(only?: ReadonlySet<string>): Promise<readonly string[]> {
    const moved = this.#moved(only);
    for (const [layer, location] of moved) {
      this.#leave(layer);
      await this.#parts.truncations.deleteRecords(layer, () => this.#record(layer, location));
    }
    return moved.map(([layer]) => layer);
  }

  #moved(only?: ReadonlySet<string>): (readonly [layer: string, location: string])[] {
    const { db } = this.#parts;
    const locations = this.#parts.locations(only);
    const isMoved = ([location, recorded = this.#others]: readonly [string, string | undefined]) =>
      location !== recorded;
    if (only !== undefined) {
      const select = db.prepare("SELECT location FROM layer_store WHERE layer = ?");
      return [...only].flatMap((layer) => {
        const location = locations.get(layer);
        const row = location === undefined ? undefined : select.get(layer);
        return location !== undefined && isMoved([location, row && text(row, "location")]) ? [[layer, location]] : [];
      });
    }
    const rows = db.prepare("SELECT layer, location FROM layer_store").all();
    const recorded = new Map(rows.map((row) => [text(row, "layer"), text(row, "location")]));
    return [...locations].filter(([layer, location]) => isMoved([location, recorded.get(layer)]));
  }

  /**
   * Logs that tiles stay in the old store. Ends the undo of the layer's truncations, which would restore tiles into the
   * old store.
   */
  #leave(layer: string): void {
    const { ledger, giveUp, log } = this.#parts;
    giveUp(layer);
    if ([...ledger.tileSets()].some(({ tileSet }) => tileSet.layer === layer))
      log.warn("a layer has another store: its tiles in the old store are not read any more, and stay there", {
        layer,
      });
  }

  #record(layer: string, location: string): void {
    this.#parts.db
      .prepare(
        "INSERT INTO layer_store (layer, location) VALUES (?, ?) ON CONFLICT (layer) DO UPDATE SET location = excluded.location",
      )
      .run(layer, location);
  }
}
