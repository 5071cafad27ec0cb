import PQueue from "p-queue";
import { Stretch } from "../ledger/adoption.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { AsidePyramid } from "../ledger/tile-set-table.ts";
import type { RenderGate } from "../render/render-order.ts";
import { type Database, int, type Migrations, text } from "../state/database.ts";
import type { StoredPyramid, TileStore } from "../store/tile-store.ts";

export const truncationMigrations: Migrations = {
  floor: "drops",
  steps: [
    "CREATE TABLE store_drop (id INTEGER PRIMARY KEY AUTOINCREMENT, plan TEXT NOT NULL, done INTEGER NOT NULL DEFAULT 0);",
  ],
};

/** The ledger records that a truncation removes when it renames the files. */
export type TruncationTarget =
  | { readonly kind: "layer"; readonly layer: string }
  | { readonly kind: "pyramid"; readonly pyramid: StoredPyramid }
  | { readonly kind: "zooms"; readonly pyramid: StoredPyramid; readonly zooms: readonly number[] };

interface TruncationPlan {
  readonly names: readonly string[];
  readonly targets: readonly TruncationTarget[];
  /** The id under which the files are set aside. Absent: they cannot be restored. */
  readonly aside?: number;
}

type PlanTruncation = () => readonly TruncationTarget[];
type RecordTruncation = (targets: readonly TruncationTarget[], names: readonly string[]) => number | undefined;

/** Files and ledger records that were set aside and can be restored. */
export interface Aside {
  readonly id: number;
  readonly layer: string;
  readonly names: readonly string[];
  readonly pyramids: readonly AsidePyramid[];
}

/** Called during a restoration, while no writer writes to the layer. */
export interface RestoreHooks<R> {
  /** Returns the reason if the restoration is refused. Called when nothing else runs in the layer. */
  readonly refuse: () => R | undefined;
  /** Persists that the restoration has begun. From then on the next start completes an interrupted restoration. */
  readonly begun: () => void;
  readonly ended: () => void;
}

/**
 * Truncations: first a record, then the renames, then the ledger, then the answer. The next start completes an
 * interrupted truncation before it serves the first tile. A layer with open cells is blocked meanwhile, so that no
 * writer stores a tile in between. A restoration does the same in the other direction. Only one truncation or
 * restoration runs at a time in each layer.
 */
export class LedgerTruncations {
  readonly #db: Database;
  readonly #store: TileStore;
  readonly #ledger: Ledger;
  readonly #gate: RenderGate;
  readonly #turns = new Map<string, PQueue>();

  constructor(db: Database, store: TileStore, ledger: Ledger, gate: RenderGate) {
    this.#db = db;
    this.#store = store;
    this.#ledger = ledger;
    this.#gate = gate;
    for (const { id, plan } of unfinished(db)) this.#carryOut(id, plan);
    db.exec("DELETE FROM store_drop WHERE done = 1");
  }

  /**
   * Renames the files of unfinished truncations without a write to the database, which a full disk may refuse: no
   * truncated tile is served. The next `LedgerTruncations` completes the truncations.
   */
  static hideUnfinished(db: Database, store: TileStore): void {
    for (const { id, plan } of unfinished(db)) rename(store, id, plan);
  }

  /**
   * Truncates; cannot be cancelled. `plan` is called when no writer writes to the layer. `record` runs in the
   * transaction of the truncation. It returns the id under which the files are set aside, or undefined if the
   * truncation cannot be undone.
   */
  drop(layer: string, plan: PlanTruncation, record: RecordTruncation = () => undefined): Promise<void> {
    return this.#inTurn(layer, async () => {
      // A writer opens its cells first. A writer that has not opened them yet will see the new generation, so wait only
      // for open cells.
      const isWritten = this.#ledger.isWritten(layer);
      if (isWritten) await this.#gate.pause(layer);
      try {
        this.#drop(plan, record);
        this.#gate.truncated(layer);
      } finally {
        if (isWritten) this.#gate.resume(layer);
        else this.#gate.renew(layer);
      }
    });
  }

  #drop(plan: PlanTruncation, record: RecordTruncation): void {
    const targets = plan();
    const names = targets.flatMap((target) => this.#names(target));
    const written = this.#db.transaction(() => {
      const aside = record(targets, names);
      if (targets.length === 0) return undefined;
      const drop: TruncationPlan = { names, targets, ...(aside === undefined ? {} : { aside }) };
      return { id: this.#record(drop), drop };
    });
    if (written !== undefined) this.#carryOut(written.id, written.drop);
  }

  /** Restores what was set aside. After an abort the next start continues the restoration. */
  restore<R>(aside: Aside, hooks: RestoreHooks<R>, signal: AbortSignal): Promise<R | undefined> {
    const { layer } = aside;
    return this.#inTurn(layer, async () => {
      await this.#gate.pause(layer);
      try {
        const refused = hooks.refuse();
        if (refused !== undefined) return refused;
        this.#ledger.hold(layer);
        hooks.begun();
        const stretch = new Stretch(signal);
        for (const _ of this.#restoring(aside)) {
          await stretch.rest();
          signal.throwIfAborted();
        }
        hooks.ended();
        return undefined;
      } finally {
        this.#ledger.release(layer);
        this.#gate.resume(layer);
      }
    });
  }

  /** Completes a restoration that the end of the last process interrupted. */
  finishRestoring(aside: Aside): void {
    this.#ledger.holdMoved(aside.layer);
    for (const _ of this.#restoring(aside));
  }

  /** Restores the files first and then the ledger. Yields at intervals, so that the coordinator can do other work. */
  *#restoring({ id, layer, names, pyramids }: Aside): Generator<void> {
    const known = pyramids.map(({ gridSet }) => gridSet);
    for (const newer of this.#store.restore(String(id), layer, names, known)) {
      this.#ledger.found(newer);
      yield;
    }
    this.#ledger.restore(layer, id, pyramids);
    while (this.#ledger.restoreSome(id)) yield;
    // Truncate the records of zoom directories that were removed by hand in the meantime.
    this.#ledger.forgetVanished(layer);
  }

  /**
   * Runs `work` alone in its layer. A restoration yields, and no other restoration or truncation may run in between.
   */
  async #inTurn<T>(layer: string, work: () => Promise<T>): Promise<T> {
    const turns = this.#turns.get(layer) ?? new PQueue({ concurrency: 1 });
    this.#turns.set(layer, turns);
    try {
      return await turns.add(work);
    } finally {
      if (turns.size === 0 && turns.pending === 0) this.#turns.delete(layer);
    }
  }

  #record(plan: TruncationPlan): number {
    return this.#db.prepare("INSERT INTO store_drop (plan) VALUES (?)").run(JSON.stringify(plan)).lastInsertRowid;
  }

  #names(target: TruncationTarget): readonly string[] {
    switch (target.kind) {
      case "layer":
        return this.#store.planTruncation(target);
      case "pyramid":
        return this.#store.planTruncation({ kind: "pyramid", ...target.pyramid });
      case "zooms":
        return target.zooms.flatMap((z) =>
          this.#store.planTruncation({ kind: "pyramid", ...target.pyramid, zooms: { first: z, last: z } }),
        );
    }
  }

  #carryOut(id: number, plan: TruncationPlan): void {
    const { targets, aside } = plan;
    rename(this.#store, id, plan);
    let isDone = false;
    const done = (): void => {
      this.#db.prepare("UPDATE store_drop SET done = 1 WHERE id = ?").run(id);
      isDone = true;
    };
    for (const [n, target] of targets.entries()) {
      // Mark the truncation done in the transaction of the last target: each transaction costs a sync of the disk.
      const also = n === targets.length - 1 ? done : undefined;
      switch (target.kind) {
        case "layer":
          this.#ledger.truncateLayer(target.layer, aside, also);
          break;
        case "pyramid":
          this.#ledger.truncatePyramid(target.pyramid, aside, also);
          break;
        case "zooms":
          for (const z of target.zooms) this.#ledger.truncateLevels(target.pyramid, z, z);
      }
    }
    if (!isDone) done();
  }
}

function unfinished(db: Database): { readonly id: number; readonly plan: TruncationPlan }[] {
  const rows = db.prepare("SELECT id, plan FROM store_drop WHERE done = 0 ORDER BY id").all();
  // This file has written the text, so it needs no check.
  return rows.map((row) => ({ id: int(row, "id"), plan: JSON.parse(text(row, "plan")) }));
}

function rename(store: TileStore, id: number, { names, aside }: TruncationPlan): void {
  if (aside === undefined) store.drop(String(id), names);
  else store.setAside(String(aside), names);
}
