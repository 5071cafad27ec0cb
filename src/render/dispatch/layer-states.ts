import { changedLayers } from "../../layer/catalogue.ts";
import { findSubset, type Layer } from "../../layer/layer.ts";
import { storesLevel } from "../../layer/stored-levels.ts";
import { asFormatName, type LayerName, tileSetKey } from "../../layer/tile-set.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { RenderOrder } from "../render-order.ts";
import type { MetatileAddress } from "../user-renders.ts";
import { BlockedLayers } from "./blocked-layers.ts";
import { FailureMemory } from "./failure-memory.ts";
import { LayerEpochs } from "./layer-epochs.ts";

/** The state of the layers for renders: their configuration, and their truncations and failures since the start. */
export class LayerStates {
  /** Raised by every truncation of the layer. Tiles of a render that began under an older generation are not stored. */
  readonly generations = new LayerEpochs();
  readonly failures: FailureMemory;
  readonly blocked = new BlockedLayers();
  #byName = new Map<LayerName, Layer>();
  /** The times of the last truncations of layers, or of parts of them, by layer; ms since 1970. */
  readonly #truncatedMs = new Map<LayerName, number>();
  /** The `expiredBeforeMs` of orders, by layer. */
  readonly #expiredBeforeMs = new Map<LayerName, number>();

  constructor(clock: Clock) {
    this.failures = new FailureMemory(clock.monotonicNow);
  }

  /** Returns a configured layer. Undefined if the layer is not configured. */
  get(name: LayerName): Layer | undefined {
    return this.#byName.get(name);
  }

  /** Applies a configuration. Returns the names of the layers that it changes, adds or removes. */
  configure(layers: readonly Layer[]): readonly LayerName[] {
    // The operator may have just corrected the cause of a failure.
    this.failures.clearAll();
    const before = this.#byName.values();
    this.#byName = new Map(layers.map((layer) => [layer.name, layer]));
    for (const name of this.#truncatedMs.keys()) if (!this.#byName.has(name)) this.#truncatedMs.delete(name);
    return [...changedLayers(before, layers)];
  }

  /**
   * Applies the change of one layer. Undefined: the layer is removed. Returns whether an existing layer has changed or
   * was removed.
   */
  configureLayer(name: LayerName, layer: Layer | undefined): boolean {
    this.failures.clearAll();
    const before = this.#byName.get(name);
    if (layer === undefined) {
      this.#byName.delete(name);
      this.#truncatedMs.delete(name);
    } else this.#byName.set(name, layer);
    return before !== undefined && changedLayers([before], layer === undefined ? [] : [layer]).length > 0;
  }

  /** Gives a new layer a generation, or releases the generation of a layer that is no longer configured. */
  renewGeneration(name: LayerName): void {
    if (this.#byName.has(name)) this.generations.add(name);
    else this.generations.remove(name);
  }

  /** Releases the generations of layers that are not configured. */
  releaseGenerations(): void {
    this.generations.keep(this.#byName.keys());
  }

  /**
   * Returns the key of a metatile. Renders with the same key write the same tiles, so they must not run at the same
   * time.
   */
  keyOf({ tileSet, rect }: MetatileAddress): string {
    const isShared = this.get(tileSet.layer)?.formatsTogether === true;
    return `${tileSetKey(isShared ? { ...tileSet, format: asFormatName("") } : tileSet)}\n${rect.z}/${rect.minX}/${rect.minY}`;
  }

  /** Returns whether the tiles of a metatile are stored. */
  stores({ tileSet, rect }: MetatileAddress): boolean {
    const layer = this.get(tileSet.layer);
    const subset = layer === undefined ? undefined : findSubset(layer, tileSet.gridSet);
    return layer === undefined || subset === undefined || storesLevel(layer, subset, rect.z);
  }

  /** Adds `expiredBeforeMs` to an order, from the layer's soft truncations. */
  withExpiry(order: RenderOrder): RenderOrder {
    const expiredBeforeMs = this.#expiredBeforeMs.get(order.tileSet.layer);
    return expiredBeforeMs === undefined ? order : { ...order, expiredBeforeMs };
  }

  /** Marks the tiles that were written before a time (ms since 1970) as expired. 0: no tiles. */
  expireBefore(layer: LayerName, beforeMs: number): void {
    if (beforeMs > 0) this.#expiredBeforeMs.set(layer, beforeMs);
    else this.#expiredBeforeMs.delete(layer);
  }

  truncated(layer: LayerName, nowMs: number): void {
    this.#truncatedMs.set(layer, nowMs);
  }

  truncatedMs(layer: LayerName): number | undefined {
    return this.#truncatedMs.get(layer);
  }
}
