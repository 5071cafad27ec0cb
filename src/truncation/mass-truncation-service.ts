import type { GridSetName } from "../grid/grid-set.ts";
import { asLayerName, type LayerName } from "../layer/tile-set.ts";
import type { ServiceParts } from "../ledger/service-parts.ts";
import { addTo, emptySum, pyramidKey, type Sum } from "../ledger/tile-sets/tile-set-record.ts";
import type { AsidePyramid } from "../ledger/tile-sets/truncated-tile-sets.ts";
import { conflict, type Refusal, unknownTruncation } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import type { Purges } from "../purge/purges.ts";
import type { RenderControl } from "../render/render-control.ts";
import type { StoredPyramid } from "../store/inventory-store.ts";
import { ifAvailable, isDone } from "../store/tile-store.ts";
import type { TruncationStore } from "../store/truncation-store.ts";
import type { MassTruncationFilter, MassTruncationRequest } from "./mass-truncation.ts";
import type { MassTruncationStore, RecordedView } from "./mass-truncation-store.ts";
import type { Reclaim } from "./reclaim.ts";
import type { TruncationTarget } from "./recorded-truncation.ts";
import type { MassTruncationPreview, MassTruncationView } from "./truncation-documents.ts";
import {
  gridSetTargets,
  type TruncationTargetSources,
  truncatedPyramids,
  truncationTargets,
} from "./truncation-targets.ts";
import type { LedgerTruncations, UndoPlan } from "./truncations.ts";

export interface MassTruncationParts
  extends TruncationTargetSources,
    Pick<ServiceParts, "db" | "clock" | "log" | "closing"> {
  readonly store: TruncationTargetSources["store"] & Pick<TruncationStore, "asideIds" | "discard" | "isPartlyAway">;
  readonly truncations: MassTruncationStore;
  readonly ledgerTruncations: LedgerTruncations;
  readonly renders: Pick<RenderControl, "block" | "unblock" | "expireBefore">;
  /** Returns the seconds for which truncated tiles can be restored. 0: their space is reclaimed at once. */
  readonly undoSeconds: () => number;
  readonly reclaim: Pick<Reclaim, "sweep">;
  readonly purges: Pick<Purges, "during" | "layerChanged">;
  /** Called with restored pyramids, which may contain tiles that the ledger has not counted. */
  readonly restored: (pyramids: readonly StoredPyramid[]) => void;
  /** Called with a truncation that was made or undone, or whose space was reclaimed. */
  readonly changed: (truncation: MassTruncationView) => void;
  /** Returns whether a layer has tiles on disk from another program, which replace missing tiles. */
  readonly hasTilesOnDisk: (layer: LayerName) => boolean;
}

interface Undoable {
  readonly layer: LayerName;
  /**
   * The time until which the truncation can be undone, in ms of the monotonic clock, so that a step of the wall clock
   * does not change the duration. 0: the time is over.
   */
  readonly untilMs: number;
}

/**
 * Mass truncations: carried out before they are answered (`docs/reference/wire-format.md`, Mass truncate), listed, and
 * undone on request. An undo discards the tiles that were stored since the truncation. A truncation can be undone until
 * its space is reclaimed, which happens when its time has passed, or sooner if the quota or the disk needs the space.
 */
export class MassTruncationService {
  readonly #parts: MassTruncationParts;
  /** Hard truncations that can be undone, whose tiles still occupy space. */
  readonly #undoable = new Map<number, Undoable>();
  /** Whether a store may have tiles of ended truncations, because it was unavailable when they were to be discarded. */
  #isDiscardOwed: boolean;
  #softTimes: ReadonlyMap<LayerName, number>;

  constructor(parts: MassTruncationParts) {
    this.#parts = parts;
    const { truncations, ledgerTruncations, ledger, store, purges, clock } = parts;
    for (const { aside } of truncations.asides("undoing"))
      ledgerTruncations.carryOutAtStart(aside.layer, {
        kind: "undo",
        carryOut: () =>
          ledgerTruncations.finishUndo(aside, () => {
            purges.layerChanged(aside.layer, "hard");
            truncations.end(aside.id, "undone", clock.now(), null);
          }),
      });
    const there = new Set(store.asideIds());
    const mayBeAway = store.isPartlyAway === true;
    for (const { aside, untilMs } of truncations.asides("kept")) {
      const isThere = there.delete(String(aside.id)) || mayBeAway;
      // If a user has removed the files by hand, the time is over. Otherwise the wall clock gives the remaining time,
      // because the monotonic clock stops while no server runs.
      const leftMs = Math.max(0, untilMs - clock.now());
      this.#undoable.set(aside.id, { layer: aside.layer, untilMs: isThere ? clock.monotonicNow() + leftMs : 0 });
    }
    // Files without a record come from a kill between the record and the rename, or from another database.
    this.#isDiscardOwed = mayBeAway;
    this.#discard(there);
    ledger.truncated.truncateVanished();
    this.#softTimes = truncations.softTimes();
  }

  /** Runs `body` in a transaction together with the pending writes of the ledger. */
  #write<T>(body: () => T): T {
    return this.#parts.db.transaction(() => {
      this.#parts.ledger.writeAll();
      return body();
    });
  }

  /** Times by layer, ms since 1970: tiles written before the time have expired. */
  get softTimes(): ReadonlyMap<LayerName, number> {
    return this.#softTimes;
  }

  /**
   * Truncates. Resolves when no reader can see the tiles any more or, for a soft truncation, when all of them have
   * expired.
   * @param by the account
   */
  truncate(request: MassTruncationRequest, by: string | null): Promise<MassTruncationView> {
    return this.#parts.purges.during(request.layer, () => this.#truncate(request, by));
  }

  async #truncate(request: MassTruncationRequest, by: string | null): Promise<MassTruncationView> {
    // Older files of another program must not reappear in place of the truncated tiles.
    if (request.mode === "hard" && request.type === "truncateLayer" && this.#parts.hasTilesOnDisk(request.layer))
      await this.#soften(request.layer, by);
    const made = await (request.mode === "soft" ? this.#soften(request.layer, by) : this.#truncateHard(request, by));
    const { id: truncationId, layer, type, mode, parameters, tiles, bytes, undoUntil } = made;
    const scope = { truncationId, layer, type, mode, ...(parameters === null ? {} : { parameters }) };
    this.#parts.log.info("a layer was truncated", { ...scope, tiles, bytes, undoUntil, user: by });
    this.#parts.changed(made);
    return made;
  }

  async #truncateHard(request: MassTruncationRequest, by: string | null): Promise<MassTruncationView> {
    const { db, truncations, ledgerTruncations, undoSeconds, reclaim, clock, purges } = this.#parts;
    let made: MassTruncationView | undefined;
    await ledgerTruncations.truncate(
      request.layer,
      () => truncationTargets(request, this.#parts),
      (targets, names) => {
        const undoMs = undoSeconds() * 1000;
        const isStored = undoMs > 0 && names.length > 0;
        const createdMs = clock.now();
        const untilMs = isStored ? createdMs + undoMs : null;
        const { pyramids, ...count } = this.#contentOf(targets);
        // Also if no tile is stored: caches downstream may have copies of evicted tiles.
        purges.layerChanged(request.layer, "hard");
        made = truncations.add({
          layer: request.layer,
          type: request.type,
          mode: request.mode,
          parameters: request.type === "truncateParameters" ? request.parameters : null,
          state: isStored ? "kept" : "reclaimed",
          createdMs,
          createdBy: by,
          undoUntilMs: untilMs,
          ...count,
          setAside: isStored ? { names, pyramids } : null,
        });
        if (untilMs === null) return undefined;
        const { id } = made;
        this.#undoable.set(id, { layer: request.layer, untilMs: clock.monotonicNow() + undoMs });
        db.onRollback(() => this.#undoable.delete(id));
        return id;
      },
    );
    if (made === undefined) throw new Error("a truncation was not recorded");
    if (!this.#undoable.has(made.id)) reclaim.sweep();
    return made;
  }

  /**
   * Truncates the tiles of a grid set whose tiles now lie in other places. These tiles cannot be restored, and earlier
   * truncations of the layer can no longer be undone.
   */
  async truncateGridSet(layer: LayerName, gridSet: GridSetName): Promise<void> {
    const { ledgerTruncations, reclaim, purges, log } = this.#parts;
    this.giveUp(layer);
    const plan = () => gridSetTargets(layer, gridSet, this.#parts);
    const record = (): undefined => {
      purges.layerChanged(layer, "hard");
    };
    await purges.during(layer, () => ledgerTruncations.truncate(layer, plan, record, "later"));
    log.info("the tiles of a changed grid set were truncated", { layer, gridSet });
    reclaim.sweep();
  }

  /**
   * Returns the pyramids of the targets and the sum of their tiles; null if the ledger has not counted all of them.
   * Reads directories of the store.
   */
  #contentOf(targets: readonly TruncationTarget[]): {
    readonly pyramids: readonly AsidePyramid[];
    readonly tiles: bigint | null;
    readonly bytes: bigint | null;
  } {
    const { ledger } = this.#parts;
    const pyramids: AsidePyramid[] = [];
    let sum: Pick<Sum, "tiles" | "bytes"> | null = { tiles: 0n, bytes: 0n };
    for (const pyramid of this.#pyramidsOf(targets)) {
      const { gridSet, parametersId } = pyramid;
      const complete = ledger.isComplete(pyramid) === true;
      pyramids.push({ gridSet, parametersId, complete });
      const own = complete ? ledger.countOf(pyramid) : null;
      sum = sum && own && { tiles: sum.tiles + own.tiles, bytes: sum.bytes + own.bytes };
    }
    return { pyramids, tiles: sum?.tiles ?? null, bytes: sum?.bytes ?? null };
  }

  /**
   * Blocks the layer, so that no render that began earlier is stored: every tile written from now on is rendered from
   * now on.
   */
  async #soften(layer: LayerName, by: string | null): Promise<MassTruncationView> {
    const { truncations, renders, clock, purges } = this.#parts;
    await renders.block(layer);
    try {
      const { tiles, bytes } = this.#contentOf([{ kind: "layer", layer }]);
      const made = this.#write(() => {
        purges.layerChanged(layer, "soft");
        return truncations.add({
          layer,
          type: "truncateLayer",
          mode: "soft",
          parameters: null,
          state: "kept",
          createdMs: clock.now(),
          createdBy: by,
          undoUntilMs: null,
          tiles,
          bytes,
          setAside: null,
        });
      });
      this.#softened(layer);
      return made;
    } finally {
      renders.unblock(layer);
    }
  }

  #softened(layer: LayerName): void {
    this.#softTimes = this.#parts.truncations.softTimes();
    this.#parts.renders.expireBefore(layer, this.#softTimes.get(layer) ?? 0);
  }

  /** Returns the tiles that a truncation would remove now, without truncating. Reads directories of the store. */
  async previewTruncation(request: MassTruncationRequest): Promise<MassTruncationPreview> {
    const { ledger } = this.#parts;
    const sum = emptySum();
    let complete = true;
    for (const pyramid of this.#pyramidsOf(truncationTargets(request, this.#parts))) {
      complete &&= ledger.isComplete(pyramid) === true;
      for (const { sums } of ledger.tileSetsOf(pyramid)) for (const zoom of sums.values()) addTo(sum, zoom);
    }
    const { type, mode, layer } = request;
    const parameters = request.type === "truncateParameters" ? request.parameters : null;
    const { tiles, bytes, allocated } = sum;
    return { layer, type, mode, parameters, tiles, bytes, bytesOnDisk: allocated, complete };
  }

  #pyramidsOf(targets: readonly TruncationTarget[]): readonly StoredPyramid[] {
    return targets.flatMap((target) =>
      target.kind === "layer" ? truncatedPyramids(target.layer, this.#parts) : [target.pyramid],
    );
  }

  /** Returns truncations, newest first. */
  async truncations(filter: MassTruncationFilter): Promise<readonly MassTruncationView[]> {
    return this.#parts.truncations.list(filter);
  }

  async truncation(id: number): Promise<MassTruncationView | undefined> {
    return this.#parts.truncations.find(id);
  }

  /**
   * Undoes a truncation. When the promise has resolved, the tiles are back, and the tiles stored since the truncation
   * are discarded.
   */
  async undoTruncation(id: number, by: string | null): Promise<Result<MassTruncationView, Refusal>> {
    const { truncations, purges, clock } = this.#parts;
    const found = truncations.find(id);
    if (found === undefined) return refuse(unknownTruncation(id));
    if (found.mode === "hard") return purges.during(found.layer, () => this.#bringBack(found, by));
    if (found.state !== "kept") return refuse(gone(found));
    this.#write(() => {
      purges.layerChanged(found.layer, "soft");
      truncations.end(id, "undone", clock.now(), by);
    });
    this.#softened(found.layer);
    return ok(this.#undone(id, by));
  }

  async #bringBack({ id, layer }: RecordedView, by: string | null): Promise<Result<MassTruncationView, Refusal>> {
    const { db, truncations, ledgerTruncations, restored, purges, clock, closing } = this.#parts;
    let pyramids: readonly AsidePyramid[] = [];
    const refused = await ledgerTruncations.undo(
      layer,
      {
        plan: () => {
          const planned = this.#planUndo(id, layer);
          if (planned.ok) pyramids = planned.value.aside.pyramids;
          return planned;
        },
        begun: (discarded) => {
          const stored = this.#undoable.get(id);
          this.#undoable.delete(id);
          if (stored !== undefined) db.onRollback(() => this.#undoable.set(id, stored));
          truncations.beginUndo(id, this.#contentOf(discarded).tiles);
        },
        ended: () => {
          purges.layerChanged(layer, "hard");
          truncations.end(id, "undone", clock.now(), by);
        },
        completed: () => {
          restored(pyramids.map(({ gridSet, parametersId }) => ({ layer, gridSet, parametersId })));
          this.#undone(id, by);
        },
      },
      closing,
    );
    return refused === undefined ? ok(this.#parts.truncations.get(id)) : refuse(refused);
  }

  /** Logs a finished undo, and returns its truncation. */
  #undone(id: number, by: string | null): MassTruncationView {
    const view = this.#reported(id);
    const { layer, mode, tiles, discarded } = view;
    this.#parts.log.info("a truncation was undone", { truncationId: id, layer, mode, tiles, discarded, user: by });
    return view;
  }

  /** Plans an undo. Called while no other truncation or undo runs in the layer. */
  #planUndo(id: number, layer: LayerName): Result<UndoPlan, Refusal> {
    const refused = this.#whyNot(id, layer);
    if (refused !== undefined) return refuse(refused);
    const { type } = this.#parts.truncations.get(id);
    const aside = this.#parts.truncations.aside(id);
    if (aside === undefined) throw new Error(`truncation ${id} has set nothing aside`);
    if (type === "truncateLayer") return ok({ aside, discarded: [{ kind: "layer", layer }] });
    const names = new Set(aside.pyramids.map((pyramid) => pyramidKey({ layer, ...pyramid })));
    const discarded = truncatedPyramids(layer, this.#parts).filter((pyramid) => names.has(pyramidKey(pyramid)));
    return ok({ aside, discarded: discarded.map((pyramid) => ({ kind: "pyramid", pyramid })) });
  }

  /** Returns why a truncation cannot be undone now. Undefined if it can. */
  #whyNot(id: number, layer: LayerName): Refusal | undefined {
    const { truncations, ledger } = this.#parts;
    const found = this.#parts.truncations.get(id);
    if ((this.#undoable.get(id)?.untilMs ?? 0) === 0) return gone(found);
    const later = truncations.standingAfter(id, layer);
    if (later !== undefined)
      return conflict(
        `Truncation ${later} of the layer is later than ${id}: undo or reclaim the later truncation first.`,
      );
    if (ledger.writers.watch.isWatched(layer))
      return conflict(`A truncate job of layer ${layer} is running: wait until it has ended.`);
    return undefined;
  }

  /** Reclaims at once the space of a truncation's tiles on the disk. */
  async reclaimTruncation(id: number, by: string | null): Promise<Result<MassTruncationView, Refusal>> {
    const found = this.#parts.truncations.find(id);
    if (found === undefined) return refuse(unknownTruncation(id));
    if (found.mode === "soft") return refuse(conflict(`Truncation ${id} is a soft truncation: it keeps no space.`));
    if (found.state === "undoing") return refuse(conflict(`Truncation ${id} is being undone.`));
    if (found.state !== "kept") return refuse(gone(found));
    this.#reclaim([id], by);
    return ok(this.#parts.truncations.get(id));
  }

  /** Writes the records, then discards the files. After a kill in between, the next start discards the files. */
  #reclaim(ids: readonly number[], by: string | null): void {
    if (ids.length === 0) return;
    const { truncations, ledger, reclaim, clock } = this.#parts;
    // A full disk may refuse the records. The files are discarded in any case, and `tick` writes the records when there
    // is space.
    for (const id of ids)
      this.#undoable.set(id, { layer: this.#undoable.get(id)?.layer ?? asLayerName(""), untilMs: 0 });
    try {
      this.#write(() => {
        for (const id of ids) {
          truncations.end(id, "reclaimed", clock.now(), by);
          ledger.truncated.discard(id);
        }
      });
      for (const id of ids) this.#undoable.delete(id);
      for (const id of ids) this.#reported(id);
    } finally {
      this.#discard(ids.map(String));
      reclaim.sweep();
    }
  }

  /** Discards the tiles of ended truncations. `#discardOwed` discards the tiles in stores that are unavailable now. */
  #discard(ids: Iterable<string>): void {
    for (const id of ids) if (!isDone(() => this.#parts.store.discard(id))) this.#isDiscardOwed = true;
  }

  /** Discards the tiles without a record of a truncation, in stores that have become available again. */
  #discardOwed(): void {
    const { truncations, store, reclaim } = this.#parts;
    const ids = ifAvailable(() => store.asideIds());
    if (ids === undefined) return;
    const there = new Set(ids);
    for (const state of ["kept", "undoing"] as const)
      for (const { aside } of truncations.asides(state)) there.delete(String(aside.id));
    this.#isDiscardOwed = store.isPartlyAway === true;
    this.#discard(there);
    if (there.size > 0) reclaim.sweep();
  }

  /**
   * Reclaims the space of truncations whose time to undo has passed, and the space that could not be reclaimed while a
   * store was unavailable.
   */
  tick(): void {
    const nowMs = this.#parts.clock.monotonicNow();
    if (this.#isDiscardOwed) this.#discardOwed();
    this.#reclaimWhere(({ untilMs }) => untilMs <= nowMs);
  }

  /**
   * Reclaims the space of all truncations of one layer (undefined: of all layers), because space is needed. Called
   * before any stored tile is evicted.
   */
  giveUp(layer: LayerName | undefined): void {
    this.#reclaimWhere((truncation) => layer === undefined || truncation.layer === layer);
  }

  /** Reclaims the space of the tiles that truncations of the chosen layers have set aside. */
  giveUpWhere(isChosen: (layer: LayerName) => boolean): void {
    this.#reclaimWhere(({ layer }) => isChosen(layer));
  }

  #reclaimWhere(isChosen: (truncation: Undoable) => boolean): void {
    const chosen = [...this.#undoable].filter(([, truncation]) => isChosen(truncation));
    this.#reclaim(
      chosen.map(([id]) => id),
      null,
    );
  }

  /** Reports the change of a truncation, and returns it. */
  #reported(id: number): MassTruncationView {
    const view = this.#parts.truncations.get(id);
    this.#parts.changed(view);
    return view;
  }
}

const gone = ({ id, state, endedAt }: MassTruncationView): Refusal =>
  conflict(
    state === "undone"
      ? `Truncation ${id} was already undone at ${endedAt}.`
      : `The space of truncation ${id} has been reclaimed${endedAt === null ? "" : ` at ${endedAt}`}.`,
  );
