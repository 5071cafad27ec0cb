import type { LayerName } from "../../layer/tile-set.ts";
import type { RenderOrder } from "../render-order.ts";
import type { InFlightRender } from "./in-flight-render.ts";

/** The renders in progress. */
export class InFlightRenders {
  /** Renders that a request may join, by the key of the metatile. */
  readonly #joinable = new Map<string, InFlightRender>();
  /** All renders in progress, including renders that began before a truncation of their layer. */
  readonly #all = new Set<InFlightRender>();

  [Symbol.iterator](): IterableIterator<InFlightRender> {
    return this.#all.values();
  }

  /** Returns the render of a metatile that a request may join. Undefined if there is no such render. */
  find(key: string): InFlightRender | undefined {
    return this.#joinable.get(key);
  }

  /**
   * Adds a render, so that requests can join it until it ends. Must be called in the turn in which the render begins.
   */
  add(key: string, render: InFlightRender): void {
    this.#joinable.set(key, render);
    this.#all.add(render);
    // Attached before the handlers of the waiting requests, which must not find this render when it has ended.
    const remove = (): void => {
      this.#all.delete(render);
      if (this.#joinable.get(key) === render) this.#joinable.delete(key);
    };
    render.ended.then(remove, remove);
  }

  /** Keeps new requests from joining the renders of a layer: the renders that were sent to a renderer, or all. */
  detach(layer: LayerName, which: "sent" | "all"): void {
    for (const [key, { order, progress }] of this.#joinable)
      if (order.tileSet.layer === layer && (which === "all" || progress.isSent)) this.#joinable.delete(key);
  }

  /**
   * Outdates the renders of a layer that were sent to a renderer and that a change concerns: new requests do not join
   * them. Returns these renders.
   */
  outdate(layer: LayerName, concerns: (order: RenderOrder) => boolean): readonly InFlightRender[] {
    const outdated = [...this.#all].filter(
      ({ order, progress }) => order.tileSet.layer === layer && progress.isSent && concerns(order),
    );
    for (const render of outdated) render.outdate();
    for (const [key, render] of this.#joinable) if (render.isOutdated) this.#joinable.delete(key);
    return outdated;
  }

  /** Waits until all renders have ended. */
  async idle(): Promise<void> {
    while (this.#all.size > 0) await Promise.allSettled([...this.#all].map(({ ended }) => ended));
  }
}
