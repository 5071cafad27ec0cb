import type { GridSetName, TileRect, Zoom } from "../grid/grid-set.ts";
import type { LayerName, TileAddress, TileSet } from "../layer/tile-set.ts";
import type { InventoryStore, StoredPyramid } from "./inventory-store.ts";
import type { Store } from "./store.ts";
import type { TileStore } from "./tile-store.ts";

/** The methods that concern one layer, and do not begin with a decision of a wrapper. */
type OfLayer =
  | Exclude<keyof TileStore, "allocated" | "deleteAll" | "disk" | "diskSpace">
  | Exclude<keyof InventoryStore, "layersThere" | "removeLeftovers" | "noteAlive" | "lastAliveMs">;

/** Passes each call that concerns one layer to the store of the layer. */
export abstract class LayerStores implements Pick<Store, OfLayer> {
  /** Returns the store of a layer. @throws StoreError while the store is unavailable */
  protected abstract of(layer: LayerName): Store;

  get(at: TileAddress): ReturnType<TileStore["get"]> {
    return this.of(at.tileSet.layer).get(at);
  }

  keyOf(at: TileAddress): string {
    return this.of(at.tileSet.layer).keyOf(at);
  }

  stat(at: TileAddress): ReturnType<TileStore["stat"]> {
    return this.of(at.tileSet.layer).stat(at);
  }

  put(...[at, bytes, terms, signal]: Parameters<TileStore["put"]>): ReturnType<TileStore["put"]> {
    return this.of(at.tileSet.layer).put(at, bytes, terms, signal);
  }

  confirm(...[at, bytes, terms, signal]: Parameters<TileStore["confirm"]>): ReturnType<TileStore["confirm"]> {
    return this.of(at.tileSet.layer).confirm(at, bytes, terms, signal);
  }

  putsAtOnce(layer: LayerName): number {
    return this.of(layer).putsAtOnce(layer);
  }

  async check(layer: LayerName): Promise<void> {
    await this.of(layer).check(layer);
  }

  delete(at: TileAddress): ReturnType<TileStore["delete"]> {
    return this.of(at.tileSet.layer).delete(at);
  }

  async describeParameters(...[layer, ...more]: Parameters<TileStore["describeParameters"]>): Promise<void> {
    await this.of(layer).describeParameters(layer, ...more);
  }

  parametersOf(layer: LayerName, id: string): ReturnType<TileStore["parametersOf"]> {
    return this.of(layer).parametersOf(layer, id);
  }

  pyramids(layer: LayerName, known: readonly GridSetName[]): ReturnType<InventoryStore["pyramids"]> {
    return this.of(layer).pyramids(layer, known);
  }

  levels(pyramid: StoredPyramid): ReturnType<InventoryStore["levels"]> {
    return this.of(pyramid.layer).levels(pyramid);
  }

  levelsOf(layer: LayerName, pyramids: readonly StoredPyramid[]): ReturnType<InventoryStore["levelsOf"]> {
    return this.of(layer).levelsOf(layer, pyramids);
  }

  recount(...[tileSet, ...more]: Parameters<InventoryStore["recount"]>): ReturnType<InventoryStore["recount"]> {
    return this.of(tileSet.layer).recount(tileSet, ...more);
  }

  timesOf(at: TileAddress): ReturnType<InventoryStore["timesOf"]> {
    return this.of(at.tileSet.layer).timesOf(at);
  }

  regions(pyramid: StoredPyramid, z: Zoom, after: string | undefined): ReturnType<InventoryStore["regions"]> {
    return this.of(pyramid.layer).regions(pyramid, z, after);
  }

  changes(pyramid: StoredPyramid, z: Zoom, sinceMs: number): ReturnType<InventoryStore["changes"]> {
    return this.of(pyramid.layer).changes(pyramid, z, sinceMs);
  }

  removeEmptied(tileSet: TileSet, rect: TileRect): void {
    this.of(tileSet.layer).removeEmptied(tileSet, rect);
  }

  removeEmptyPyramids(
    ...[layer, pyramids]: Parameters<InventoryStore["removeEmptyPyramids"]>
  ): ReturnType<InventoryStore["removeEmptyPyramids"]> {
    return this.of(layer).removeEmptyPyramids(layer, pyramids);
  }
}
