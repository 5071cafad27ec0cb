import type { LayerName } from "../../layer/tile-set.ts";
import { type Database, int, type Row } from "../../state/database.ts";
import { upsert } from "../../state/statements.ts";
import type { StoredPyramid } from "../../store/inventory-store.ts";
import { pyramidKey, pyramidOfRow, type TileSetScope } from "./tile-set-record.ts";

/** A pyramid with a record, and whether every stored tile of it has been counted. */
type KnownPyramid = StoredPyramid & { readonly complete: boolean };

/** The pyramids with records. A change runs inside the caller's transaction. */
export class PyramidTable {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  all(): readonly KnownPyramid[] {
    return this.#db.prepare("SELECT layer, grid_set, parameters_id, complete FROM pyramid").all().map(pyramidIn);
  }

  /** Returns whether every stored tile of a pyramid has been counted. Undefined if the pyramid has no record. */
  isComplete({ layer, gridSet, parametersId }: StoredPyramid): boolean | undefined {
    const known = this.#db
      .prepare("SELECT complete FROM pyramid WHERE layer = ? AND grid_set = ? AND parameters_id = ?")
      .get(layer, gridSet, parametersId);
    return known === undefined ? undefined : int(known, "complete") === 1;
  }

  /** Returns, for all pyramids of a layer with a record, by their keys, whether every stored tile has been counted. */
  completeIn(layer: LayerName): ReadonlyMap<string, boolean> {
    const rows = this.#db.prepare("SELECT layer, grid_set, parameters_id, complete FROM pyramid WHERE layer = ?");
    return new Map(rows.all(layer).map((row) => [pyramidKey(pyramidIn(row)), pyramidIn(row).complete]));
  }

  setComplete({ layer, gridSet, parametersId }: StoredPyramid, complete: boolean): void {
    const row = { layer, grid_set: gridSet, parameters_id: parametersId, complete: Number(complete) };
    upsert(this.#db, "pyramid", ["layer", "grid_set", "parameters_id"], row);
  }

  /** Deletes the records of pyramids. Runs inside the caller's transaction. */
  delete(scope: TileSetScope): void {
    if (scope.gridSet === undefined) this.#db.prepare("DELETE FROM pyramid WHERE layer = ?").run(scope.layer);
    else
      this.#db
        .prepare("DELETE FROM pyramid WHERE layer = ? AND grid_set = ? AND parameters_id = ?")
        .run(scope.layer, scope.gridSet, scope.parametersId);
  }
}

const pyramidIn = (row: Row): KnownPyramid => ({
  ...pyramidOfRow(row),
  complete: int(row, "complete") === 1,
});
