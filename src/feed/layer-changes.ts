import type { Layer } from "../layer/layer.ts";
import type { ChangeOperation } from "../layer/update-source.ts";
import { type Refusal, refusalMessage } from "../lib/refusal.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { JobOptions } from "../plan/job/job-options.ts";
import type { JobRequest } from "../plan/job/job-request.ts";
import { type ChangedPlaces, type LayerChange, planRemoval, planRenewal } from "../plan/layer-change.ts";
import type { ChangedTiles } from "../truncation/changed-tiles.ts";
import type { MassTruncationService } from "../truncation/mass-truncation-service.ts";
import { submitUpdate, type UpdateJobsParts } from "./update-jobs.ts";

const EFFECTS = { truncate: "remove", soft: "expire", seed: "renew", reseed: "renew" } as const;

/** The collected changes of the data of a layer. */
export interface CollectedChange {
  readonly layer: Layer;
  readonly operation: ChangeOperation;
  readonly change: LayerChange;
}

export interface LayerChangesParts extends UpdateJobsParts {
  readonly tiles: Pick<ChangedTiles, "apply">;
  readonly truncations: Pick<MassTruncationService, "truncate">;
  readonly options: () => JobOptions;
  readonly clock: Clock;
}

export interface AppliedChanges {
  readonly jobIds: readonly number[];
  /** Why tiles that are stale now are not rendered again by a job. Undefined if no job was refused. */
  readonly refused: string | undefined;
}

/**
 * Carries out changes of the data of layers. When the promise has resolved, no old tile is served as fresh, and the jobs
 * that render the tiles again are stored. The source of the changes keeps them until then.
 */
export class LayerChanges {
  readonly #parts: LayerChangesParts;

  constructor(parts: LayerChangesParts) {
    this.#parts = parts;
  }

  /**
   * @param also writes in the transaction that stores the jobs
   * @throws StoreError or StateError while a store or the database is unavailable, Error if a truncate is refused
   */
  async apply(changes: Iterable<CollectedChange>, signal: AbortSignal, also?: () => void): Promise<AppliedChanges> {
    const removals: JobRequest[] = [];
    const renewals: JobRequest[] = [];
    let refused: Refusal | undefined;
    for (const { layer, operation, change } of changes) {
      signal.throwIfAborted();
      const changedMs = this.#parts.clock.now();
      const places = change.places();
      const removed = await this.#outdate(layer, operation, places, signal);
      for (const place of removed) {
        const planned = planRemoval(place, layer, this.#parts.options());
        if (!planned.ok) throw new Error(refusalMessage(planned.error));
        removals.push(...planned.value);
      }
      if (operation !== "seed" && operation !== "reseed") continue;
      for (const place of places) {
        const planned = planRenewal(operation, place, changedMs, layer, this.#parts.options());
        if (planned.ok) renewals.push(...planned.value);
        else refused ??= planned.error;
      }
    }
    const submitted = await submitUpdate([...removals, ...renewals], this.#parts, also);
    if (submitted.ok)
      return { jobIds: submitted.value, refused: refused === undefined ? undefined : refusalMessage(refused) };
    // The tiles of renewals are stale already: they are rendered again when they are used.
    const without = await submitUpdate(removals, this.#parts, also);
    if (!without.ok) throw new Error(refusalMessage(without.error));
    return { jobIds: without.value, refused: refusalMessage(submitted.error) };
  }

  /** Removes tiles, or makes them stale. Returns the places whose tiles a truncate must remove. */
  async #outdate(
    layer: Layer,
    operation: ChangeOperation,
    places: readonly ChangedPlaces[],
    signal: AbortSignal,
  ): Promise<readonly ChangedPlaces[]> {
    const { tiles, truncations } = this.#parts;
    const ranges = places.flatMap(({ subset, rects }) =>
      rects === undefined ? [] : [{ gridSet: subset.gridSet.id, rects }],
    );
    const effect = EFFECTS[operation];
    const uncounted = ranges.length === 0 ? [] : await tiles.apply(layer.name, ranges, effect, signal);
    const whole = places.flatMap(({ subset, rects }): ChangedPlaces[] => {
      if (rects === undefined) return [{ subset, rects }];
      const left = uncounted.find(({ gridSet }) => gridSet === subset.gridSet.id);
      return left === undefined ? [] : [{ subset, rects: left.rects }];
    });
    if (effect === "remove" || whole.length === 0) return whole;
    await truncations.truncate({ type: "truncateLayer", mode: "soft", layer: layer.name }, null);
    return [];
  }
}
