import type { Ledger } from "../ledger/ledger.ts";
import type { Logger } from "../lib/logger.ts";
import { type Database, type Migrations, text } from "../state/database.ts";
import { DEFAULT_LOCATION } from "../store/store-options.ts";
import type { LedgerTruncations } from "./truncations.ts";

export const layerStoreMigrations: Migrations = {
  module: "layer_stores",
  // A layer without a row has its tiles in the default store.
  steps: ["CREATE TABLE layer_store (layer TEXT PRIMARY KEY, location TEXT NOT NULL);"],
};

export interface LayerStoresParts {
  readonly db: Database;
  readonly ledger: Pick<Ledger, "truncated" | "tileSets">;
  readonly truncations: Pick<LedgerTruncations, "deleteRecords">;
  /** Returns where the tiles of each configured layer are, by layer. */
  readonly locations: () => ReadonlyMap<string, string>;
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

  constructor(parts: LayerStoresParts) {
    this.#parts = parts;
    // No writer has begun yet.
    const moved = this.#moved();
    const recorded = new Set([...parts.ledger.tileSets()].map(({ tileSet }) => tileSet.layer));
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

  /**
   * Compares the stores of a changed configuration with the recorded ones. Returns the layers that have another one.
   * `only`: the layers that may have changed; undefined: any layer.
   */
  async reconfigured(only?: Iterable<string>): Promise<readonly string[]> {
    const moved = this.#moved(only);
    for (const [layer, location] of moved) {
      this.#leave(layer);
      await this.#parts.truncations.deleteRecords(layer, () => this.#record(layer, location));
    }
    return moved.map(([layer]) => layer);
  }

  #moved(only?: Iterable<string>): (readonly [layer: string, location: string])[] {
    const { db } = this.#parts;
    const locations = this.#parts.locations();
    const isMoved = ([location, recorded = DEFAULT_LOCATION]: readonly [string, string | undefined]) =>
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
