import { layerNames } from "../../layer/catalogue.ts";
import { asLayerName, type LayerName } from "../../layer/tile-set.ts";
import { badField, conflict, type Refusal, unknownLayer } from "../../lib/refusal.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { deadline } from "../../lib/time/deadline.ts";
import { isoTime } from "../../lib/time/iso-time.ts";
import { sleep } from "../../lib/time/sleep.ts";
import { spaceOnDisk } from "../../quota/disk/space-on-disk.ts";
import { bigInt, int, text } from "../../state/database.ts";
import { insert } from "../../state/statements.ts";
import type { OpenedStores } from "../../store/open-store.ts";
import type { Store } from "../../store/store.ts";
import type { LedgerTruncations } from "../../truncation/truncations.ts";
import type { BuildContext } from "../coordinator-parts.ts";
import { LayerCopy } from "./layer-copy.ts";
import type { CopyRequest } from "./store-copy.ts";
import type { StoreCopyView } from "./store-copy-documents.ts";

export interface StoreCopiesParts
  extends Pick<BuildContext, "db" | "ledger" | "renders" | "catalogue" | "eviction" | "clock" | "closing" | "log"> {
  /** Absent if the server has only the default store. */
  readonly stores?: OpenedStores["several"];
  readonly truncations: Pick<LedgerTruncations, "withoutTruncation">;
  readonly isCounted: (layer: LayerName) => boolean;
  /** Makes all tiles of a layer expire that were written before this call. */
  readonly expire: (layer: LayerName) => Promise<unknown>;
}

interface Running {
  readonly request: {
    readonly layer: LayerName;
    readonly from: string;
    readonly to: string;
    readonly startedMs: number;
  };
  readonly copy: LayerCopy;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** How long a reload waits for writers that have open cells while their layer is blocked. */
const WRITERS_MS = 10_000;
const LOOK_MS = 5;
const RETRY_MS = 5_000;
/** How long the end of the server waits for the last changes, ms. */
const LAST_CHANGES_MS = 1_500;
/** The most ended copies that are listed. */
const MOST_ENDED = 1_000;

/**
 * Copies layers from one store to another, while both are in use. The list of layers being copied is in the database,
 * so a restart resumes the copies. A layer moves when a reload gives it the other store. The reload first copies the
 * last changes, and lets no render and no import of the layer begin until then. If instead a start gives the layer the
 * other store, the last server has copied the last changes when it ended. After a kill these changes may be missing, so
 * the tiles of the layer expire.
 */
export class StoreCopies {
  readonly #parts: StoreCopiesParts;
  readonly #running = new Map<LayerName, Running>();
  readonly #ended = new Map<LayerName, StoreCopyView>();
  readonly #blocked = new Set<LayerName>();
  /** The layers that are getting another store. `ended` resolves when the layer has it. */
  readonly #moves = new Map<LayerName, { readonly ended: Promise<void>; readonly end: () => void }>();
  /** The moving layers whose copies may be older than the tiles of the old store. */
  readonly #doubtful = new Set<LayerName>();

  constructor(parts: StoreCopiesParts) {
    this.#parts = parts;
  }

  /** Resumes the copies that the last server did not end. */
  start(): void {
    const { db, stores } = this.#parts;
    const rows = db.prepare("SELECT layer, from_store, to_store, started_ms, caught_up FROM store_copy").all();
    if (rows.length > 0) db.exec("UPDATE store_copy SET caught_up = 0");
    for (const row of rows) {
      const layer = asLayerName(text(row, "layer"));
      const [from, to] = [text(row, "from_store"), text(row, "to_store")];
      const request = { layer, from, to, startedMs: Number(bigInt(row, "started_ms")) };
      const isCaughtUp = int(row, "caught_up") === 1;
      if (stores?.idOf(layer) === from && this.#begin(request, isCaughtUp ? undefined : request.startedMs)) continue;
      this.#deleteRow(layer);
      this.#leftBehind(request, isCaughtUp);
    }
  }

  /** Ends a copy whose layer or stores have changed with the start. */
  #leftBehind({ layer, from, to }: Running["request"], isCaughtUp: boolean): void {
    const { stores, log } = this.#parts;
    if (stores?.idOf(layer) !== to)
      log.warn("a copy of a layer has ended: the layer or its stores have changed since the last start", {
        layer,
        from,
        to,
      });
    else if (isCaughtUp) log.info("a copy of a layer has ended", { layer, from, to, outcome: "moved" });
    else this.#expire(layer);
  }

  /**
   * Makes the tiles of a moved layer expire: a reseed or a render may have replaced tiles in the old store after they
   * were copied.
   */
  #expire(layer: LayerName): void {
    const { expire, log } = this.#parts;
    log.warn("a layer has another store before the last changes were copied: its tiles expire", { layer });
    expire(layer).catch((error: unknown) =>
      log.error("the tiles of a layer that has another store could not be made to expire", {
        layer,
        error: String(error),
      }),
    );
  }

  async copyStore({ from, to, layers }: CopyRequest): Promise<Result<readonly StoreCopyView[], Refusal>> {
    const { stores, catalogue, db, clock, log } = this.#parts;
    if (stores === undefined || stores.isOne)
      return refuse(conflict("The configuration has no section stores: there is one store."));
    if (stores.byId(from) === undefined) return refuse(badField("from", "the id of a store", from));
    if (stores.byId(to) === undefined || from === to) return refuse(badField("to", "the id of another store", to));
    const known = catalogue().layers;
    const wanted = layers ?? layerNames(catalogue()).filter((layer) => stores.idOf(layer) === from);
    for (const layer of wanted) {
      if (!known.has(layer)) return refuse(unknownLayer(layer, known));
      if (stores.idOf(layer) !== from)
        return refuse(conflict(`The tiles of ${layer} are in the store ${stores.idOf(layer)}, not in ${from}.`));
      const other = this.#running.get(layer)?.request;
      if (other !== undefined && other.to !== to)
        return refuse(conflict(`${layer} is being copied to the store ${other.to}; DELETE that copy first.`));
    }
    const begun = wanted.filter((layer) => !this.#running.has(layer));
    const startedMs = clock.now();
    db.transaction(() => {
      for (const layer of begun)
        insert(db, "store_copy", { layer, from_store: from, to_store: to, started_ms: startedMs });
    });
    for (const layer of begun) this.#begin({ layer, from, to, startedMs });
    if (begun.length > 0) log.info("layers are being copied to another store", { from, to, layers: begun.length });
    return ok(wanted.flatMap((layer) => this.#view(layer) ?? []));
  }

  /** Returns the running copies, and the copies that have ended since the start. */
  async storeCopies(): Promise<readonly StoreCopyView[]> {
    return [...new Set([...this.#running.keys(), ...this.#ended.keys()])].flatMap((layer) => this.#view(layer) ?? []);
  }

  /** Cancels a copy. Tiles that were copied stay. Returns undefined if the layer is not being copied. */
  async cancelStoreCopy(layer: LayerName): Promise<StoreCopyView | undefined> {
    if (!this.#running.has(layer)) return undefined;
    await this.#end(layer, "cancelled", null);
    return this.#view(layer);
  }

  /**
   * Prepares a reload that gives layers other stores: copies the last changes of layers that move to the target of
   * their copy, and blocks these layers until `moved`. Ends every copy of a layer that gets another store.
   */
  async moving(storeOf: (layer: LayerName) => string | undefined): Promise<void> {
    for (const [layer, { request, copy }] of [...this.#running]) {
      const next = storeOf(layer);
      if (next === request.from) continue;
      if (!copy.isComplete || next !== request.to)
        this.#parts.log.warn(
          "a layer gets another store before its copy is complete: missing tiles are rendered again",
          {
            layer,
            store: next,
          },
        );
      if (next === request.to) {
        await this.#catchUp(layer, copy);
        if (copy.isDoubtful) this.#doubtful.add(layer);
      }
      // Stop the copy before writers use the new store: the copy would remove tiles that the old store lacks.
      await this.#end(layer, next === request.to ? "moved" : "cancelled", null);
    }
  }

  /** Returns a promise that resolves when a layer has its new store. Undefined if the layer is not moving. */
  move(layer: LayerName): Promise<void> | undefined {
    return this.#moves.get(layer)?.ended;
  }

  /** Unblocks the layers that `moving` has blocked, after the reload or its failure. */
  moved(): void {
    for (const layer of this.#blocked) this.#parts.renders.unblock(layer);
    this.#blocked.clear();
    for (const { end } of this.#moves.values()) end();
    this.#moves.clear();
    for (const layer of this.#doubtful) this.#expire(layer);
    this.#doubtful.clear();
  }

  /** Copies the last changes, and ends the copies. Called after the last write of a tile. */
  async close(): Promise<void> {
    const caughtUp: LayerName[] = [];
    const signal = deadline(this.#parts.clock, LAST_CHANGES_MS);
    for (const [layer, { copy }] of this.#running)
      if (await this.#hasCaughtUp(layer, copy, signal)) caughtUp.push(layer);
    for (const { stop } of this.#running.values()) stop.abort();
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
    if (caughtUp.length === 0) return;
    const { db } = this.#parts;
    db.transaction(() => {
      for (const layer of caughtUp) db.prepare("UPDATE store_copy SET caught_up = 1 WHERE layer = ?").run(layer);
    });
  }

  async #hasCaughtUp(layer: LayerName, copy: LayerCopy, signal: AbortSignal): Promise<boolean> {
    try {
      // A store that hangs must not delay the end of the server.
      await Promise.race([copy.catchUp(signal), aborted(signal)]);
      return !copy.isDoubtful;
    } catch (error) {
      this.#parts.log.warn("the last changes of a layer could not be copied to its new store", {
        layer,
        error: String(error),
      });
      return false;
    }
  }

  async #catchUp(layer: LayerName, copy: LayerCopy): Promise<void> {
    const { renders, ledger, closing, log } = this.#parts;
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#moves.set(layer, { ended, end });
    await renders.block(layer);
    this.#blocked.add(layer);
    const untilMs = this.#parts.clock.monotonicNow() + WRITERS_MS;
    while (ledger.writers.isWritten(layer) && this.#parts.clock.monotonicNow() < untilMs)
      await sleep(this.#parts.clock, LOOK_MS);
    try {
      await copy.catchUp(closing);
    } catch (error) {
      this.#doubtful.add(layer);
      log.warn("the last changes of a layer could not be copied to its new store", { layer, error: String(error) });
    }
  }

  /**
   * Starts a copy. Returns false if one of its stores is not configured any more. `resumedFromMs` is as in
   * `LayerCopyParts`.
   */
  #begin(request: Running["request"], resumedFromMs?: number): boolean {
    const { stores, log } = this.#parts;
    const { layer } = request;
    const [from, to] = [stores?.byId(request.from), stores?.byId(request.to)];
    if (stores === undefined || from === undefined || to === undefined) return false;
    const stop = new AbortController();
    // This signal is aborted by `close` alone: renders still store tiles after the server begins to shut down.
    const { signal } = stop;
    const copy = new LayerCopy({
      ...this.#parts,
      layer,
      from,
      to,
      renames: () => stores.renames,
      isCounted: () => !this.#parts.ledger.doubted.countSome(16) && this.#parts.isCounted(layer),
      hasSpace: () => this.#hasSpace(to),
      retryMs: RETRY_MS,
      ...(resumedFromMs === undefined ? {} : { resumedFromMs }),
    });
    const ended = copy.run(signal).catch((error: unknown) => {
      log.error("a copy of a layer has failed by a fault", { layer, error: String(error) });
      // Not awaited: the end of a copy waits for this promise.
      void this.#end(layer, "failed", String(error));
    });
    this.#ended.delete(layer);
    this.#running.set(layer, { request, copy, stop, ended });
    return true;
  }

  async #hasSpace(to: Store): Promise<boolean> {
    const { bytes, files } = spaceOnDisk(await to.diskSpace(), this.#parts.eviction());
    return bytes > 0n && files > 0;
  }

  async #end(layer: LayerName, state: StoreCopyView["state"], reason: string | null): Promise<void> {
    const running = this.#running.get(layer);
    if (running === undefined) return;
    running.stop.abort();
    await running.ended;
    if (this.#running.get(layer) !== running) return;
    this.#running.delete(layer);
    this.#deleteRow(layer);
    const { request, copy } = running;
    this.#ended.set(layer, { ...viewOf(request, copy), state, reason, endedAt: isoTime(this.#parts.clock.now()) });
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > MOST_ENDED && oldest !== undefined) this.#ended.delete(oldest);
    this.#parts.log.info("a copy of a layer has ended", { layer, from: request.from, to: request.to, outcome: state });
  }

  #deleteRow(layer: LayerName): void {
    this.#parts.db.prepare("DELETE FROM store_copy WHERE layer = ?").run(layer);
  }

  #view(layer: LayerName): StoreCopyView | undefined {
    const running = this.#running.get(layer);
    return running === undefined ? this.#ended.get(layer) : viewOf(running.request, running.copy);
  }
}

const viewOf = ({ startedMs, ...request }: Running["request"], copy: Running["copy"]): StoreCopyView => ({
  ...request,
  ...copy.progress(),
  startedAt: isoTime(startedMs),
  endedAt: null,
});

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
