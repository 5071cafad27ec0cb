import type { TileRect } from "../../grid/grid-set.ts";
import { tileSetKey } from "../../layer/tile-set.ts";
import { pagesOf } from "../../lib/pages.ts";
import { isoTime, isoTimeOrNull } from "../../lib/time/iso-time.ts";
import { POSITIONS_AT_ONCE } from "../../state/dialect.ts";
import { StateWait } from "../../state/state-wait.ts";
import type { InventoryStore, StoredPyramid } from "../../store/inventory-store.ts";
import type { Ledger } from "../ledger.ts";
import { blocksIn, type Listed, type ListedBlock } from "./region-blocks.ts";
import { Stretch } from "./stretch.ts";
import type { CellDifference, VerificationView } from "./verification-documents.ts";

const DIFFERENCES_NAMED = 1_000;

/** Compares the ledger with a scan of the store while both are in use, and lists the cells that differ. */
export class Verification {
  readonly #ledger: Ledger;
  readonly #store: InventoryStore;
  readonly #repair: boolean;
  readonly #stop = new AbortController();
  readonly #wait: StateWait;
  readonly #startedMs: number;
  readonly #differences: CellDifference[] = [];
  readonly #seen = new Set<string>();
  readonly ended: Promise<void>;
  #state: VerificationView["state"] = "running";
  #endedMs: number | undefined;
  #tiles = 0;
  #differing = 0;
  #reason: string | null = null;

  constructor(parts: {
    readonly ledger: Ledger;
    readonly store: InventoryStore;
    readonly pyramids: readonly StoredPyramid[];
    readonly repair: boolean;
  }) {
    this.#ledger = parts.ledger;
    this.#wait = new StateWait(parts.ledger.clock, this.#stop.signal);
    this.#store = parts.store;
    this.#repair = parts.repair;
    this.#startedMs = parts.ledger.clock.now();
    this.ended = this.#run(parts.pyramids)
      .then(
        () => {
          this.#state = this.#stop.signal.aborted ? "cancelled" : "done";
        },
        (error: unknown) => {
          this.#state = this.#stop.signal.aborted ? "cancelled" : "failed";
          if (this.#state === "failed") this.#reason = String(error);
        },
      )
      .finally(() => {
        this.#endedMs = this.#ledger.clock.now();
      });
  }

  async #run(pyramids: readonly StoredPyramid[]): Promise<void> {
    for (const pyramid of pyramids) {
      for (const z of new Set([...this.#store.levels(pyramid), ...this.#ledger.caches.levels(pyramid)])) {
        const stretch = new Stretch(this.#ledger.clock, this.#stop.signal);
        for await (const region of this.#store.regions(pyramid, z, undefined)) {
          for (const tiles of region.tiles.values()) this.#tiles += tiles.length;
          for (const page of pagesOf(await stretch.run(blocksIn(region)), POSITIONS_AT_ONCE)) {
            await this.#comparePage(pyramid, page, stretch);
            if (this.#stop.signal.aborted) return;
          }
        }
        // Also compares the blocks that only have rows, because the store may list no tiles there.
        const rects = await this.#wait.run(() => [...this.#ledger.caches.blockRects(pyramid, z)]);
        for (const page of pagesOf(rects, POSITIONS_AT_ONCE)) {
          await this.#comparePage(
            pyramid,
            page.map((rect) => [rect, new Map()]),
            stretch,
          );
          if (this.#stop.signal.aborted) return;
        }
      }
    }
  }

  #comparePage(pyramid: StoredPyramid, page: readonly ListedBlock[], stretch: Stretch): Promise<void> {
    return this.#wait.run(async () => {
      this.#ledger.caches.prefetch(
        pyramid,
        page.map(([rect]) => rect),
      );
      for (const [rect, listed] of page) {
        await this.#compare(pyramid, rect, listed, stretch);
        if (this.#stop.signal.aborted) return;
      }
    });
  }

  async #compare(pyramid: StoredPyramid, rect: TileRect, listed: Listed, stretch: Stretch): Promise<void> {
    for (const difference of this.#ledger.caches.differences(pyramid, rect, listed)) {
      await stretch.sleep();
      if (this.#stop.signal.aborted) return;
      if (difference === undefined) continue;
      // A cell may be compared twice: by the row of its block, and again after a wait for the database.
      const { tileSet, rect: cell } = difference;
      const key = `${tileSetKey(tileSet)}\n${cell.z}/${cell.minX}/${cell.minY}`;
      if (!this.#seen.has(key)) {
        this.#seen.add(key);
        this.#differing++;
        if (this.#differences.length < DIFFERENCES_NAMED) this.#differences.push(difference);
      }
      if (this.#repair) this.#ledger.repair(difference.tileSet, difference.rect);
    }
  }

  view(): VerificationView {
    return {
      state: this.#state,
      repair: this.#repair,
      startedAt: isoTime(this.#startedMs),
      endedAt: isoTimeOrNull(this.#endedMs ?? null),
      tiles: this.#tiles,
      differing: this.#differing,
      differences: this.#differences,
      reason: this.#reason ?? this.#wait.reason ?? null,
    };
  }

  async cancel(): Promise<void> {
    this.#stop.abort();
    await this.ended;
  }
}
