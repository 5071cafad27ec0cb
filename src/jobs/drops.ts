import type { DrawGate } from "../cache/draw.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type Database, int, type Migrations, text } from "../state/database.ts";
import type { BlobStore, StoredPyramid } from "../store/blob-store.ts";

export const dropMigrations: Migrations = {
  floor: "drops",
  steps: [
    "CREATE TABLE store_drop (id INTEGER PRIMARY KEY AUTOINCREMENT, plan TEXT NOT NULL, done INTEGER NOT NULL DEFAULT 0);",
  ],
};

/** What leaves the ledger together with the names. */
export type DropTarget =
  | { readonly kind: "layer"; readonly layer: string }
  | { readonly kind: "pyramid"; readonly pyramid: StoredPyramid }
  | { readonly kind: "zooms"; readonly pyramid: StoredPyramid; readonly zooms: readonly number[] };

interface DropPlan {
  readonly names: readonly string[];
  readonly targets: readonly DropTarget[];
}

/**
 * Drops: first a record, then the renames, then the ledger, then the answer; an interrupted one is completed at the next
 * start, before the first tile is served. The layer is paused meanwhile, so that no writer stands between the two.
 */
export class Drops {
  readonly #db: Database;
  readonly #store: BlobStore;
  readonly #ledger: Ledger;
  readonly #gate: DrawGate;

  constructor(db: Database, store: BlobStore, ledger: Ledger, gate: DrawGate) {
    this.#db = db;
    this.#store = store;
    this.#ledger = ledger;
    this.#gate = gate;
    for (const row of db.prepare("SELECT id, plan FROM store_drop WHERE done = 0 ORDER BY id").all()) {
      const plan: DropPlan = JSON.parse(text(row, "plan"));
      this.#carryOut(int(row, "id"), plan);
    }
    db.exec("DELETE FROM store_drop WHERE done = 1");
  }

  /** Cannot be cancelled. `plan` is asked once nothing is written in the layer any more; `also`: written with the record. */
  async drop(layer: string, plan: () => readonly DropTarget[], also: () => void = () => undefined): Promise<void> {
    await this.#gate.pause(layer);
    try {
      const targets = plan();
      const names = targets.flatMap((target) => this.#names(target));
      const record = this.#db.transaction(() => {
        also();
        return targets.length === 0 ? undefined : this.#record({ names, targets });
      });
      if (record !== undefined) this.#carryOut(record, { names, targets });
    } finally {
      this.#gate.resume(layer);
    }
  }

  #record(plan: DropPlan): number {
    return this.#db.prepare("INSERT INTO store_drop (plan) VALUES (?)").run(JSON.stringify(plan)).lastInsertRowid;
  }

  #names(target: DropTarget): readonly string[] {
    switch (target.kind) {
      case "layer":
        return this.#store.planDrop(target);
      case "pyramid":
        return this.#store.planDrop({ kind: "pyramid", ...target.pyramid });
      case "zooms":
        return target.zooms.flatMap((z) =>
          this.#store.planDrop({ kind: "pyramid", ...target.pyramid, zooms: { first: z, last: z } }),
        );
    }
  }

  #carryOut(id: number, plan: DropPlan): void {
    this.#store.drop(String(id), plan.names);
    for (const target of plan.targets) {
      switch (target.kind) {
        case "layer":
          this.#ledger.dropLayer(target.layer);
          break;
        case "pyramid":
          this.#ledger.dropPyramid(target.pyramid);
          break;
        case "zooms":
          for (const z of target.zooms) this.#ledger.dropZooms(target.pyramid, z, z);
      }
    }
    this.#db.prepare("UPDATE store_drop SET done = 1 WHERE id = ?").run(id);
  }
}
