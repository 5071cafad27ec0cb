import { formatsBeside, type Layer } from "../../layer/layer.ts";
import type { CellWriters } from "../../ledger/cells/cell-writers.ts";
import type { StateWriter } from "../../ledger/state-writer.ts";
import { codeOf } from "../../lib/error-code.ts";
import type { Leave } from "../../render/admission.ts";
import type { RenderControl } from "../../render/render-control.ts";
import { type RenderOrder, type RenderOutcome, tileSetsOf } from "../../render/render-order.ts";
import { StateError } from "../../state/data-directory.ts";
import { isStateAway } from "../../state/state-wait.ts";
import type { ActiveJob } from "../active/active-job.ts";
import type { JobMetatile, WantedMetatile } from "./seed-metatile.ts";
import type { WantedTiles } from "./wanted-tiles.ts";

export interface SeedRendersParts {
  readonly state: Pick<StateWriter, "marksCommitted">;
  readonly writers: Pick<CellWriters, "openAll" | "close" | "onBar">;
  readonly renders: Pick<RenderControl, "render" | "renderBatch">;
  readonly tiles: Pick<WantedTiles, "areMissing">;
}

/** The metatiles of one job that are rendered in one batch. */
export interface SeedBatch {
  readonly job: ActiveJob;
  readonly layer: Layer;
  readonly metatiles: readonly WantedMetatile<JobMetatile>[];
  /** The reservation for the tiles. Undefined: nothing is stored. */
  readonly leave: Leave | undefined;
}

/** Renders metatiles of jobs, with their cells open in the ledger during the render. */
export class SeedRenders {
  readonly #parts: SeedRendersParts;

  constructor(parts: SeedRendersParts) {
    this.#parts = parts;
  }

  /** Renders one metatile. */
  async render(batch: SeedBatch, signal: AbortSignal): Promise<RenderOutcome> {
    const [outcome = { kind: "cancelled" }] = await this.#opened(batch, signal, async ([order], until) =>
      order === undefined ? [] : [await this.#parts.renders.render(order, until)],
    );
    return outcome;
  }

  /**
   * Renders metatiles one after the other on one connection. Returns the outcomes of the metatiles that the batch
   * reached.
   */
  renderBatch(batch: SeedBatch, signal: AbortSignal): Promise<readonly RenderOutcome[]> {
    return this.#opened(batch, signal, (orders, until) => this.#parts.renders.renderBatch(orders, until));
  }

  /**
   * Opens the cells, renders, and closes the cells. Returns no outcomes if the task was aborted before the render.
   * @throws StateError while the state database is unavailable or a truncation of the layer is interrupted
   */
  async #opened(
    { job, layer, metatiles, leave }: SeedBatch,
    signal: AbortSignal,
    render: (orders: readonly RenderOrder[], until: AbortSignal) => Promise<readonly RenderOutcome[]>,
  ): Promise<readonly RenderOutcome[]> {
    const { writers, tiles, state } = this.#parts;
    const terms = orderTerms(job, layer);
    const open = writers.openAll(
      metatiles.flatMap(({ metatile: { tileSet, rect } }) =>
        tileSetsOf({ ...terms, tileSet }).map((filled) => ({ tileSet: filled, rect })),
      ),
    );
    const ending = new AbortController();
    const end = (): void => ending.abort(signal.reason);
    signal.addEventListener("abort", end, { once: true });
    let isBarred = false;
    const watched = writers.onBar(layer.name, () => {
      isBarred = true;
      end();
    });
    try {
      const mustCommit = open.some((cells) => cells.mustCommit);
      const fault = mustCommit ? await state.marksCommitted(layer.name).catch(notCommitted) : undefined;
      if (fault !== undefined) return [{ kind: "full", reason: `the state database cannot be written: ${fault}` }];
      if (signal.aborted) return [];
      const outcomes = isBarred
        ? []
        : await render(
            metatiles.map(({ metatile: { tileSet, parameters, rect }, wanted }) => ({
              ...terms,
              ...(tiles.areMissing(job, layer, rect.z) ? { isNew: true } : {}),
              ...(leave === undefined ? {} : { leave }),
              tileSet,
              parameters,
              rect,
              wanted,
            })),
            ending.signal,
          );
      // The ledger still has records of truncated tiles, so the task must not search for missing tiles now.
      if (isBarred && outcomes.every(({ kind }) => kind === "cancelled"))
        throw new StateError("unavailable", `a truncation of ${layer.name} was interrupted`);
      return outcomes;
    } finally {
      watched();
      signal.removeEventListener("abort", end);
      for (const cells of open) writers.close(cells);
    }
  }
}

/**
 * Returns that the marks have no room.
 * @throws the error, when the database or the truncated store is unavailable for another reason
 */
function notCommitted(error: unknown): string {
  if (isStateAway(error) && codeOf(error) !== "SQLITE_FULL") throw error;
  return String(error);
}

/** Returns the parts of a render order that are the same for all metatiles of a job. */
function orderTerms(
  { request, createdMs }: ActiveJob,
  layer: Layer,
): Pick<RenderOrder, "beside" | "sinceMs" | "watched" | "renewed"> {
  const { format, onlyExisting, olderThanMs } = request;
  // A job over existing or old tiles has checked only one format, so it must not write the other formats.
  const isOfOneFormat = onlyExisting === true || olderThanMs !== undefined;
  const beside = isOfOneFormat || format === null ? [] : formatsBeside(layer, format);
  return {
    ...(beside.length === 0 ? {} : { beside }),
    // A render that a user or another job requested earlier may show the data that this reseed replaces.
    ...(request.type === "reseed" ? { sinceMs: createdMs } : {}),
    ...(layer.seedGuard === undefined ? {} : { watched: true }),
    ...(olderThanMs === undefined ? {} : { renewed: true }),
  };
}
