import { isDeepStrictEqual } from "node:util";
import { directoryOf, type StoreOptions } from "../../../store/store-options.ts";

/** The stores whose directories a node has been found to share with the lead. A bucket is shared by definition. */
export class CheckedStores {
  #stores: readonly StoreOptions[] = [];

  add(stores: readonly StoreOptions[]): void {
    this.#stores = [...this.#stores, ...stores];
  }

  /** Returns the stores for which this was not checked with the node. */
  missing(stores: readonly StoreOptions[]): readonly StoreOptions[] {
    return stores.filter(
      (store) => directoryOf(store) !== undefined && !this.#stores.some((one) => isDeepStrictEqual(one, store)),
    );
  }
}
