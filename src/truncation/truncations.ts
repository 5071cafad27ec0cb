import PQueue from "p-queue";
import type { LayerName } from "../layer/tile-set.ts";
import { Stretch } from "../ledger/counting/stretch.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { AsidePyramid } from "../ledger/tile-sets/truncated-tile-sets.ts";
import type { Logger } from "../lib/process/logger.ts";
import type { Result } from "../lib/result.ts";
import type { RenderControl } from "../render/render-control.ts";
import { StateError } from "../state/data-directory.ts";
import type { Database } from "../state/database.ts";
import { isStateAway } from "../state/state-wait.ts";
import { insertWithId } from "../state/statements.ts";
import { isLater } from "../store/store-router.ts";
import { StoreError } from "../store/tile-store.ts";
import type { TruncationStore } from "../store/truncation-store.ts";
import { type Interrupted, InterruptedTruncations } from "./interrupted-truncations.ts";
import {
  type BegunTruncation,
  rename,
  type TruncationPlan,
  type TruncationTarget,
  unfinished,
} from "./recorded-truncation.ts";

type PlanTruncation = () => readonly TruncationTarget[];
type RecordTruncation = (targets: readonly TruncationTarget[], names: readonly string[]) => number | undefined;

/** Files and ledger records that were set aside and can be restored. */
export interface Aside {
  readonly id: number;
  readonly layer: LayerName;
  readonly names: readonly string[];
  readonly pyramids: readonly AsidePyramid[];
}

/** The tiles that an undo restores, and the later tiles that it truncates for them. */
export interface UndoPlan {
  readonly aside: Aside;
  readonly discarded: readonly TruncationTarget[];
}

/** The check and the record of an undo. Called while no writer writes to the layer. */
export interface UndoHooks<R> {
  /**
   * Returns the plan, or the reason why the undo is refused. Called while no other truncation or undo runs in the
   * layer.
   */
  readonly plan: () => Result<UndoPlan, R>;
  /** Records that the undo has begun. Runs in the transaction that records the truncation of the discarded tiles. */
  readonly begun: (discarded: readonly TruncationTarget[]) => void;
  /** Records that the undo has ended. Runs in the transaction that brings back the records of the ledger. */
  readonly ended: () => void;
  /** Called when the undo is complete, perhaps later than it was requested. Called again if it throws. */
  readonly completed: () => void;
}

/**
 * Truncations: first a record, then the renames, then the ledger, then the answer. A layer with open cells is blocked
 * during a truncation, so that no writer stores a tile in between.
 *
 * A truncation can be interrupted after its record: by a kill, or because the database or the store becomes
 * unavailable. The next start completes it before it serves the first tile. The same process completes it before it
 * stores or searches for a tile in the layer, because a later completion would remove newer tiles.
 *
 * An undo truncates the tiles stored since the truncation, and then brings back the names and the records that were set
 * aside. Its record is written in the transaction that records this truncation, so the next start completes both; the
 * same process completes an undo like a truncation. Only one truncation or undo runs at a time in each layer.
 */
export class LedgerTruncations {
  readonly #db: Database;
  readonly #store: TruncationStore;
  readonly #ledger: Ledger;
  readonly #renders: RenderControl;
  readonly #queues = new Map<string, PQueue>();
  /** Truncations for unavailable stores, by the number of their records. */
  readonly #owed = new Map<number, BegunTruncation>();
  /**
   * The interrupted truncations and undos. A writer completes the interrupted truncations of its layer before it
   * writes, and a job before it searches for tiles.
   */
  readonly interrupted: InterruptedTruncations;

  constructor(db: Database, store: TruncationStore, ledger: Ledger, renders: RenderControl, log: Logger) {
    this.#db = db;
    this.#store = store;
    this.#ledger = ledger;
    this.#renders = renders;
    this.interrupted = new InterruptedTruncations({ writers: ledger.writers, renders, log });
    for (const truncation of unfinished(db)) this.#completeAtStart(truncation);
    db.exec("DELETE FROM store_drop WHERE done = 1");
  }

  /** Completes a truncation of the last process. */
  #completeAtStart(truncation: BegunTruncation): void {
    if (isOwed(truncation)) {
      this.#owed.set(truncation.id, truncation);
      return;
    }
    // Truncations of several layers are carried out together; the second call does nothing.
    const recorded: Interrupted = { kind: "truncation", carryOut: onceDone(() => this.#carryOut(truncation)) };
    for (const layer of layersOf(truncation)) this.carryOutAtStart(layer, recorded);
  }

  /**
   * Completes a truncation or undo that the last process has recorded. While its store is unavailable, no tile is
   * stored in its layer.
   */
  carryOutAtStart(layer: LayerName, recorded: Interrupted): void {
    try {
      recorded.carryOut();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.interrupted.add(layer, recorded, error);
    }
  }

  /**
   * Completes the truncations that could not be carried out in unavailable stores: of tiles that a layer may have there
   * from before it got its current store.
   * @param layer absent: of all layers
   */
  completeOwed(layer?: LayerName): void {
    for (const [id, truncation] of this.#owed) {
      if (layer !== undefined && truncation.owedBy !== layer) continue;
      try {
        rename(this.#store, truncation);
        this.#db.transaction(() => this.#done(id));
        this.#owed.delete(id);
      } catch (error) {
        // The store, or the database, is still unavailable.
        if (!(error instanceof StoreError) && !isStateAway(error)) throw error;
      }
    }
  }

  /** Records that tiles of a layer must be truncated in an unavailable store. */
  owe(layer: LayerName, names: readonly string[]): void {
    const owed: TruncationPlan = { names, targets: [], owedBy: layer };
    const id = this.#db.transaction(() => this.#insert(owed));
    this.#owed.set(id, { id, ...owed });
  }

  #insert(plan: TruncationPlan): number {
    return insertWithId(this.#db, "store_drop", { plan: JSON.stringify(plan) });
  }

  #done(id: number): void {
    this.#db.prepare("UPDATE store_drop SET done = 1 WHERE id = ?").run(id);
  }

  /**
   * Renames the files of unfinished truncations without a write to the database, which a full disk may refuse, so that
   * no truncated tile is served. The next `LedgerTruncations` completes the truncations.
   */
  static hideUnfinished(db: Database, store: TruncationStore): void {
    for (const truncation of unfinished(db)) if (!isOwed(truncation)) rename(store, truncation);
  }

  /**
   * Truncates; cannot be cancelled. `plan` is called while no writer writes to the layer. `record` runs in the
   * transaction of the truncation. It returns the id under which the files are set aside, or undefined if the
   * truncation cannot be undone.
   * @param ifUnplanned whether a truncation that cannot be planned, because the store is unavailable, is refused, or is
   * planned and carried out when the store is available again, like an interrupted truncation
   */
  truncate(
    layer: LayerName,
    plan: PlanTruncation,
    record: RecordTruncation = () => undefined,
    ifUnplanned: "refused" | "later" = "refused",
  ): Promise<void> {
    return this.#inTurn(layer, async () => {
      // A writer opens its cells first. A writer that has not opened them yet will see the new generation, so only open
      // cells require a wait.
      const isWritten = this.#ledger.writers.isWritten(layer);
      if (isWritten) await this.#renders.block(layer);
      try {
        this.interrupted.complete(layer);
        const begin = () => ({ truncation: this.#begin(plan, record) });
        let begun = ifUnplanned === "refused" ? begin() : undefined;
        const carryOut = (): void => {
          begun ??= begin();
          if (begun.truncation !== undefined) this.#carryOut(begun.truncation);
        };
        this.#carryOutNow(layer, { kind: "truncation", carryOut });
        this.#renders.truncated(layer);
      } finally {
        if (isWritten) this.#renders.unblock(layer);
        else this.#renders.renew(layer);
      }
    });
  }

  /**
   * Carries out a truncation or an undo. If it is interrupted, no tile is stored in the layer before it is complete.
   */
  #carryOutNow(layer: LayerName, recorded: Interrupted): void {
    try {
      recorded.carryOut();
    } catch (error) {
      this.interrupted.add(layer, recorded, error);
      throw carriedOutLater(recorded, error);
    }
  }

  /**
   * Deletes the records of a layer but not its files, because the layer has a new store. Cannot be cancelled.
   * @param also runs in the same transaction
   */
  deleteRecords(layer: LayerName, also: () => void): Promise<void> {
    return this.#inTurn(layer, async () => {
      await this.#renders.block(layer);
      try {
        this.interrupted.complete(layer);
        this.#ledger.truncated.truncate({ layer }, undefined, also);
        this.#renders.truncated(layer);
      } finally {
        this.#renders.unblock(layer);
      }
    });
  }

  /**
   * Records a truncation, which the next start then completes after a kill. Undefined if there is nothing to truncate.
   */
  #begin(plan: PlanTruncation, record: RecordTruncation): BegunTruncation | undefined {
    const targets = plan();
    const planned = targets.map((target) => ({ layer: layerOf(target), names: this.#names(target) }));
    const names = planned.flatMap((one) => one.names.filter((name) => !isLater(name)));
    const owed = planned.flatMap((one): TruncationPlan[] => {
      const later = one.names.filter(isLater);
      return later.length === 0 ? [] : [{ names: later, targets: [], owedBy: one.layer }];
    });
    const begun = this.#db.transaction(() => {
      const aside = record(targets, names);
      if (targets.length === 0) return undefined;
      const plan: TruncationPlan = { names, targets, ...(aside === undefined ? {} : { aside }) };
      return {
        truncation: { id: this.#insert(plan), ...plan },
        owed: owed.map((one) => ({ id: this.#insert(one), ...one })),
      };
    });
    for (const one of begun?.owed ?? []) this.#owed.set(one.id, one);
    return begun?.truncation;
  }

  /**
   * Undoes a truncation. Returns the reason if the undo is refused. An undo that is interrupted after its record is
   * completed later, like a truncation. Returns undefined when the undo is carried out.
   */
  undo<R>(layer: LayerName, hooks: UndoHooks<R>, signal: AbortSignal): Promise<R | undefined> {
    return this.#inTurn(layer, async () => {
      // Starts a new generation, so that a render that began before the undo is not stored over a restored tile.
      await this.#renders.block(layer);
      try {
        const stretch = new Stretch(this.#ledger.clock, signal);
        for (const _ of this.#ledger.doubted.countOf(layer)) {
          await stretch.sleep();
          signal.throwIfAborted();
        }
        // Otherwise the next start would carry out an interrupted truncation on the restored tiles.
        this.interrupted.complete(layer);
        const planned = hooks.plan();
        if (!planned.ok) return planned.error;
        const { aside, discarded } = planned.value;
        const begun = this.#begin(
          () => discarded,
          (targets) => void hooks.begun(targets),
        );
        this.#carryOutNow(layer, { kind: "undo", carryOut: this.#undoSteps(aside, begun, hooks) });
        return undefined;
      } finally {
        this.#renders.unblock(layer);
      }
    });
  }

  /** Returns the function that carries out an undo. After a failure the next call continues with the failed step. */
  #undoSteps<R>(aside: Aside, truncation: BegunTruncation | undefined, hooks: UndoHooks<R>): () => void {
    const steps = [
      () => truncation !== undefined && this.#carryOut(truncation),
      () => this.finishUndo(aside, hooks.ended),
      () => hooks.completed(),
    ];
    return () => {
      for (let [step] = steps; step !== undefined; [step] = steps) {
        step();
        steps.shift();
      }
    };
  }

  /**
   * Completes an undo whose discarded tiles have been truncated.
   * @param ended as in the hooks
   */
  finishUndo({ id, layer, names, pyramids }: Aside, ended: () => void): void {
    this.#store.restore(String(id), names);
    this.#ledger.truncated.restore(layer, id, pyramids, ended);
    // Truncates the records of zoom directories that were removed by hand since the truncation.
    this.#ledger.truncated.truncateVanished(layer);
  }

  /**
   * Runs `work` while no truncation and no undo of the layer runs. A truncation that is requested during the work
   * waits.
   */
  withoutTruncation<T>(layer: LayerName, work: () => Promise<T>): Promise<T> {
    return this.#inTurn(layer, work);
  }

  /** Runs `work` alone in its layer: an undo yields, and no other undo or truncation may run in between. */
  async #inTurn<T>(layer: LayerName, work: () => Promise<T>): Promise<T> {
    const queue = this.#queues.get(layer) ?? new PQueue({ concurrency: 1 });
    this.#queues.set(layer, queue);
    try {
      return await queue.add(work);
    } finally {
      if (queue.size === 0 && queue.pending === 0) this.#queues.delete(layer);
    }
  }

  #names(target: TruncationTarget): readonly string[] {
    switch (target.kind) {
      case "layer":
        return this.#store.plan(target);
      case "pyramid":
        return this.#store.plan({ kind: "pyramid", ...target.pyramid });
      case "zooms":
        return target.zooms.flatMap((z) =>
          this.#store.plan({ kind: "pyramid", ...target.pyramid, zooms: { first: z, last: z } }),
        );
    }
  }

  #carryOut(truncation: BegunTruncation): void {
    const { id, targets, aside } = truncation;
    rename(this.#store, truncation);
    let isDone = false;
    const done = (): void => {
      this.#done(id);
      isDone = true;
    };
    const levels = targets.flatMap((target) =>
      target.kind === "zooms" ? target.zooms.map((z) => ({ pyramid: target.pyramid, z })) : [],
    );
    const scopes = targets.flatMap((target) =>
      target.kind === "zooms" ? [] : [target.kind === "layer" ? { layer: target.layer } : target.pyramid],
    );
    // The last transaction also marks the truncation as done, because each transaction costs a sync of the disk.
    if (levels.length > 0) this.#ledger.truncated.truncateLevels(levels, scopes.length === 0 ? done : undefined);
    for (const [n, scope] of scopes.entries())
      this.#ledger.truncated.truncate(scope, aside, n === scopes.length - 1 ? done : undefined);
    if (!isDone) done();
  }
}

/** Returns a function that does nothing after it has succeeded once. */
function onceDone(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}

const isOwed = ({ owedBy }: TruncationPlan): boolean => owedBy !== undefined;

const layerOf = (target: TruncationTarget): LayerName =>
  target.kind === "layer" ? target.layer : target.pyramid.layer;

const layersOf = ({ targets }: TruncationPlan): readonly LayerName[] => [...new Set(targets.map(layerOf))];

/** Returns the error, extended by the sentence that the request is not lost. */
function carriedOutLater({ kind }: Interrupted, error: unknown): unknown {
  const later = (what: string): string => `; the ${kind} is recorded, and is carried out when ${what} can be used`;
  if (error instanceof StoreError) return new StoreError("unavailable", error.message + later("the store"), error);
  if (!isStateAway(error)) return error;
  return new StateError("unavailable", error.message + later("the state database"), { cause: error });
}
