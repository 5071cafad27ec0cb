import { createHash } from "node:crypto";
import { asGridSetName, type GridSet, placesOf } from "../grid/grid-set.ts";
import type { LayerGridSet } from "../layer/catalogue.ts";
import type { Layer } from "../layer/layer.ts";
import type { TileSet } from "../layer/tile-set.ts";
import { type Database, text } from "../state/database.ts";
import { upsert } from "../state/statements.ts";
import type { Tables } from "../state/tables.ts";

export const gridSetPlaceTables: Tables =
  "CREATE TABLE grid_set_places (grid_set TEXT PRIMARY KEY, places TEXT NOT NULL);";

/** The part of the ledger that lists the tile sets with tiles. */
interface StoredTileSets {
  tileSets(): Iterable<{ readonly tileSet: TileSet }>;
}

/**
 * Remembers where the tiles of each grid set lie. The definition of a grid set may change while the server is down, or
 * a kill may happen between the change and the truncation. The stored tiles then show wrong places.
 */
export class GridSetPlaces {
  readonly #db: Database;
  readonly #ledger: StoredTileSets;
  readonly #recorded: Map<string, string>;

  constructor(db: Database, ledger: StoredTileSets) {
    this.#db = db;
    this.#ledger = ledger;
    const rows = db.prepare("SELECT grid_set, places FROM grid_set_places").all();
    this.#recorded = new Map(rows.map((row) => [asGridSetName(text(row, "grid_set")), text(row, "places")]));
  }

  /**
   * Returns the layers and grid sets whose stored tiles lie in other places than the grid sets' tiles do now.
   * @param changed the layers whose grid sets are compared
   * @param all all layers: a grid set that has moved has moved for each layer
   */
  moved(changed: Iterable<Layer>, all: Iterable<Layer>): readonly LayerGridSet[] {
    const moved = new Set(
      [...digestsOf(changed)].flatMap(([id, digest]) => ((this.#recorded.get(id) ?? digest) === digest ? [] : [id])),
    );
    if (moved.size === 0) return [];
    const offered = [...all].flatMap(({ name, gridSubsets }) =>
      gridSubsets.map(({ gridSet }) => ({ layer: name, gridSet: gridSet.id })),
    );
    // A layer that no longer offers the grid set may offer it again later.
    const stored = [...this.#ledger.tileSets()].map(({ tileSet: { layer, gridSet } }) => ({ layer, gridSet }));
    return unique([...offered, ...stored].filter(({ gridSet }) => moved.has(gridSet)));
  }

  /**
   * Records the places of the layers' grid sets. Called after the tiles of the grid sets that `moved` returned were
   * truncated.
   */
  record(layers: Iterable<Layer>): void {
    const changed = [...digestsOf(layers)].filter(([id, digest]) => this.#recorded.get(id) !== digest);
    if (changed.length === 0) return;
    this.#db.transaction(() => {
      for (const [id, digest] of changed)
        upsert(this.#db, "grid_set_places", ["grid_set"], { grid_set: id, places: digest });
    });
    for (const [id, digest] of changed) this.#recorded.set(id, digest);
  }
}

/** Returns pairs without duplicates. */
export const unique = (pairs: readonly LayerGridSet[]): readonly LayerGridSet[] => [
  ...new Map(pairs.map((pair) => [JSON.stringify([pair.layer, pair.gridSet]), pair])).values(),
];

function digestsOf(layers: Iterable<Layer>): ReadonlyMap<string, string> {
  const digests = new Map<string, string>();
  for (const { gridSubsets } of layers)
    for (const { gridSet } of gridSubsets) if (!digests.has(gridSet.id)) digests.set(gridSet.id, digestOf(gridSet));
  return digests;
}

/** Rounds numbers, so that a version that computes the last digit of a resolution differently truncates nothing. */
function digestOf(gridSet: GridSet): string {
  const places = JSON.stringify(placesOf(gridSet), (_, value: unknown) =>
    typeof value === "number" ? Number(value.toPrecision(12)) : value,
  );
  return createHash("sha256").update(places).digest("base64url").slice(0, 22);
}
