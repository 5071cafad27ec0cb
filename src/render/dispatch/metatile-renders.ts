import type { TileIndex } from "../../grid/grid-set.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Leave } from "../admission.ts";
import type { LedgerAccess } from "../ledger-access.ts";
import type { RenderOrder } from "../render-order.ts";
import { CANCELLED, filledMetatile, writtenByTileSet } from "../render-result.ts";
import type { EarlyTiles } from "../renderer/missed-tile-first.ts";
import type { RendererResult, Renderers } from "../renderers.ts";
import type { ConnectionPermits } from "../upstream/connection-permits.ts";
import type { Refused } from "../user-renders.ts";
import { InFlightRender, RenderProgress } from "./in-flight-render.ts";
import type { InFlightRenders } from "./in-flight-renders.ts";
import type { LayerStates } from "./layer-states.ts";
import type { RenderReports } from "./render-reports.ts";

export interface MetatileRendersParts {
  readonly renderers: Renderers;
  readonly ledger: LedgerAccess;
  readonly layers: LayerStates;
  readonly permits: ConnectionPermits;
  readonly reports: RenderReports;
  readonly inFlight: InFlightRenders;
  readonly clock: Clock;
}

/** The renders of a batch, which share a connection and a renderer. */
export interface StartedBatch {
  readonly progress: RenderProgress;
  /** One result for each metatile that the batch reached. */
  readonly ended: Promise<readonly RendererResult[]>;
}

/** Starts renders: each waits for a connection, is sent to a renderer, and reports its result. */
export class MetatileRenders {
  readonly #parts: MetatileRendersParts;

  constructor(parts: MetatileRendersParts) {
    this.#parts = parts;
  }

  /**
   * Starts a render of one metatile.
   * @param user the user who missed a tile; undefined: the render is a job's
   */
  start(order: RenderOrder, user: { readonly missed: TileIndex; readonly client: string } | undefined): InFlightRender {
    const progress = new RenderProgress(user === undefined ? "job" : "user");
    const about = { order, beganMs: this.#parts.clock.now(), progress, user, isOfBatch: false };
    return this.#add(new InFlightRender(about, (render) => this.#render(render)));
  }

  /** Starts a batch of a job. All orders belong to one layer and share a reservation. */
  startBatch(orders: readonly RenderOrder[]): StartedBatch {
    const progress = new RenderProgress("job");
    const renders: InFlightRender[] = [];
    const ended = this.#renderBatch(renders, orders, progress);
    for (const [i, order] of orders.entries()) {
      const about = { order, beganMs: this.#parts.clock.now(), progress, user: undefined, isOfBatch: true };
      const render = new InFlightRender(about, () => ended.then((results) => results[i] ?? CANCELLED));
      // A fault reaches the job by the end of the batch, and each joined request by its wait.
      render.ended.catch(() => undefined);
      renders.push(this.#add(render));
    }
    return { progress, ended };
  }

  #add(render: InFlightRender): InFlightRender {
    this.#parts.inFlight.add(this.#parts.layers.keyOf(render.order), render);
    return render;
  }

  async #render(render: InFlightRender): Promise<RendererResult | Refused> {
    const { renderers, ledger, layers, permits, reports } = this.#parts;
    const { order, progress, missed } = render;
    const { layer } = order.tileSet;
    const epoch = layers.failures.epoch(layer);
    const permit = await permits.acquire(layer, progress, render.turn);
    if (permit.kind !== "permit") return permit;
    progress.permit();
    const reservation = new ReservationInUse(order.leave?.id);
    try {
      // Reads the generation and sends the order in one turn of the event loop. A truncation in between would not reach
      // a renderer that has no work yet.
      const generation = layers.generations.of(layer);
      progress.send();
      // The coordinator opens the cells while the upstream renders, so that a user waits only for the slower of the
      // two. A job opens the cells of its renders itself.
      const openCells = async (tile: TileIndex): Promise<Leave | undefined> => {
        if (!layers.stores(order)) return undefined;
        const given = await reservation.open(ledger.open(filledMetatile(order), tile));
        // A truncation that began before the cells were opened has not waited for this render.
        return generation === layers.generations.of(layer) && !render.isOutdated ? given : undefined;
      };
      const result = await renderers.renderMetatile(
        layers.withExpiry(order),
        generation,
        {
          who: permit.who,
          missed: render.firstMissed,
          openCells: missed === undefined ? undefined : () => openCells(missed),
          report: (tiles) => this.#reportEarly(render, tiles, generation, reservation.id),
          whenUserJoins: (report) => render.whenUserJoins(report),
        },
        progress.signal,
      );
      for (const [tileSet, tiles] of writtenByTileSet([order], [result]))
        reports.written(tileSet, tiles, reservation.id);
      const rendered = render.withReported(result);
      reports.ended(order, rendered, permit, epoch);
      await reservation.opened;
      return rendered;
    } finally {
      permit.upstreamLimit.release(permit.who);
      // The written tiles have already been reported to the ledger.
      reservation.whenOpened((id) => ledger.closeCells(id));
    }
  }

  /** Renders a batch. Returns no results if a user joined one of its renders before it had a connection. */
  async #renderBatch(
    renders: readonly InFlightRender[],
    orders: readonly RenderOrder[],
    progress: RenderProgress,
  ): Promise<readonly RendererResult[]> {
    const { renderers, layers, permits, reports } = this.#parts;
    const [first] = orders;
    if (first === undefined) return [];
    const { layer } = first.tileSet;
    const epoch = layers.failures.epoch(layer);
    const permit = await permits.acquireForBatch(layer, progress);
    if (permit.kind !== "permit") return [];
    progress.permit();
    try {
      // Reads the generation and sends the orders in one turn, as for a single render.
      const generation = layers.generations.of(layer);
      progress.send();
      const results = await renderers.renderBatch(
        orders.map((order) => layers.withExpiry(order)),
        generation,
        {
          report: (i, tiles) => {
            const render = renders[i];
            if (render !== undefined) this.#reportEarly(render, tiles, generation, first.leave?.id);
          },
          whenUserJoins: (report) => {
            for (const [i, render] of renders.entries()) render.whenUserJoins((missed) => report(i, missed));
          },
        },
        progress.signal,
      );
      for (const [tileSet, tiles] of writtenByTileSet(orders, results))
        reports.written(tileSet, tiles, first.leave?.id);
      const rendered = results.map((result, i) => renders[i]?.withReported(result) ?? result);
      for (const [i, order] of orders.entries()) reports.ended(order, rendered[i] ?? CANCELLED, permit, epoch);
      return rendered;
    } finally {
      permit.upstreamLimit.release(permit.who);
    }
  }

  /** @param generation the layer's generation when the order was sent */
  #reportEarly(render: InFlightRender, tiles: EarlyTiles, generation: number, reservation: number | undefined): void {
    const { layers, reports } = this.#parts;
    const { tileSet } = render.order;
    reports.written(tileSet, tiles.written, reservation);
    render.report(tiles, render.isOutdated || generation !== layers.generations.of(tileSet.layer));
  }
}

/**
 * The reservation of one render: the job's reservation, or the reservation that the coordinator grants when it opens
 * the cells for a user.
 */
class ReservationInUse {
  #id: number | undefined;
  #opened: Promise<Leave | undefined> | undefined;

  constructor(id: number | undefined) {
    this.#id = id;
  }

  /** The id of the reservation. Undefined until it is known. */
  get id(): number | undefined {
    return this.#id;
  }

  /**
   * The answer of the coordinator. Undefined if no request was sent.
   * @throws a fault of opening the cells
   */
  get opened(): Promise<Leave | undefined> | undefined {
    return this.#opened;
  }

  /** Waits for the coordinator's answer. Undefined if opening the cells failed. */
  async open(opened: Promise<Leave | undefined>): Promise<Leave | undefined> {
    this.#opened = opened;
    try {
      const given = await opened;
      if (given !== undefined) this.#id = given.id;
      return given;
    } catch {
      // `#render` throws this fault at its end.
      return undefined;
    }
  }

  /** Calls a function with the id, if and when cells were opened. */
  whenOpened(close: (id: number) => void): void {
    this.#opened?.then(
      (given) => given !== undefined && close(given.id),
      () => undefined,
    );
  }
}
