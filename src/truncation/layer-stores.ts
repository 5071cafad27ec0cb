import { asLayerName, type LayerName } from "../layer/tile-set.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Logger } from "../lib/process/logger.ts";
import type { Purges } from "../purge/purges.ts";
import { type Database, text } from "../state/database.ts";
import { upsert } from "../state/statements.ts";
import type { Tables } from "../state/tables.ts";
import { DEFAULT_LOCATION } from "../store/store-options.ts";
import type { LedgerTruncations } from "./truncations.ts";

/**
 * A layer without a row has the location in the row with an empty name or, if that row is missing, the location of the
 * default store.
 */
export const layerStoreTables: Tables = "CREATE TABLE layer_store (layer TEXT PRIMARY KEY, location TEXT NOT NULL);";

/** The name in the row that applies to layers without a row. No layer has this name. */
const OTHERS = asLayerName("");

export interface LayerStoresParts {
  readonly db: Database;
  readonly ledger: Pick<Ledger, "truncated" | "tileSets">;
  readonly truncations: Pick<LedgerTruncations, "deleteRecords">;
  /**
   * Returns the location of the tiles of each configured layer, by layer.
   * @param only the layers to return; absent: all
   */
  readonly locations: (only?: ReadonlySet<LayerName>) => ReadonlyMap<LayerName, string>;
  /** Location of the default store. Undefined if every layer names a store. */
  readonly firstLocation: string | undefined;
  /** Discards the tiles that truncations of a layer have set aside. */
  readonly giveUp: (layer: LayerName) => void;
  readonly purges: Pick<Purges, "during" | "layerChanged">;
  readonly log: Logger;
}

/**
 * Remembers the location of each layer's tiles. When a layer gets a new store, its records are deleted and an adoption
 * counts the tiles in the new store. Its tiles in the old store stay there: they are neither read nor counted, and
 * truncations of the layer remove them too.
 */
export class LayerStores {
  readonly #parts: LayerStoresParts;
  /** The location of layers without a row. */
  readonly #others: string;

  constructor(parts: LayerStoresParts) {
    this.#parts = parts;
    const recorded = new Set([...parts.ledger.tileSets()].map(({ tileSet }) => tileSet.layer));
    if (recorded.size === 0) this.#begin();
    const others = parts.db.prepare("SELECT location FROM layer_store WHERE layer = ?").get(OTHERS);
    this.#others = others === undefined ? DEFAULT_LOCATION : text(others, "location");
    // No writer has begun yet, so the records can be deleted without blocking the layer.
    const moved = this.#moved();
    for (const [layer, location] of moved.filter(([name]) => recorded.has(name))) {
      this.#leave(layer);
      parts.ledger.truncated.truncate({ layer }, undefined, () => this.#record(layer, location));
    }
    // Written in one transaction: a transaction for each of thousands of layers would take long.
    const empty = moved.filter(([name]) => !recorded.has(name));
    if (empty.length === 0) return;
    for (const [layer] of empty) parts.giveUp(layer);
    parts.db.transaction(() => {
      for (const [layer, location] of empty) this.#record(layer, location);
    });
  }

  /** Records one location for all layers in a database without tiles, so that no layer needs a row. */
  #begin(): void {
    const { db, firstLocation: location, locations, giveUp } = this.#parts;
    if (location === undefined || location === DEFAULT_LOCATION) return;
    if (db.prepare("SELECT 1 FROM layer_store LIMIT 1").get() !== undefined) return;
    for (const layer of locations().keys()) giveUp(layer);
    this.#record(OTHERS, location);
  }

  /**
   * Compares the stores of a changed configuration with the recorded locations. Returns the layers whose location has
   * changed.
   * @param only the layers that may have changed; undefined: any layer
   */
  async reconfigured(only?: ReadonlySet<LayerName>): Promise<readonly LayerName[]> {
    const moved = this.#moved(only);
    for (const [layer, location] of moved) {
      this.#leave(layer);
      const { truncations, purges } = this.#parts;
      await purges.during(layer, () =>
        truncations.deleteRecords(layer, () => {
          purges.layerChanged(layer, "hard");
          this.#record(layer, location);
        }),
      );
    }
    return moved.map(([layer]) => layer);
  }

  #moved(only?: ReadonlySet<LayerName>): (readonly [layer: LayerName, location: string])[] {
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
    const recorded = new Map(rows.map((row) => [asLayerName(text(row, "layer")), text(row, "location")]));
    return [...locations].filter(([layer, location]) => isMoved([location, recorded.get(layer)]));
  }

  /**
   * Logs that tiles stay in the old store. Discards the layer's truncations that could be undone, because an undo would
   * restore tiles into the old store.
   */
  #leave(layer: LayerName): void {
    const { ledger, giveUp, log } = this.#parts;
    giveUp(layer);
    if ([...ledger.tileSets()].some(({ tileSet }) => tileSet.layer === layer))
      log.warn("a layer has another store: its tiles in the old store are not read any more, and stay there", {
        layer,
      });
  }

  #record(layer: LayerName, location: string): void {
    upsert(this.#parts.db, "layer_store", ["layer"], { layer, location });
  }
}
