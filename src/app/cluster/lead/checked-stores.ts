import { isDeepStrictEqual } from "node:util";
import { directoryOf, type StoreOptions } from "../../../store/store-options.ts";

/** The directories of stores that a node was found to share with the lead. A bucket is the same for all. */
export class CheckedStores {
  #stores: readonly StoreOptions[] = [];

  add(stores: readonly StoreOptions[]): void {
    this.#stores = [...this.#stores, ...stores];
  }

  /** Returns the stores that the node was not asked about. */
  missing(stores: readonly StoreOptions[]): readonly StoreOptions[] {
    return stores.filter(
      (store) => directoryOf(store) !== undefined && !this.#stores.some((one) => isDeepStrictEqual(one, store)),
    );
  }
}
