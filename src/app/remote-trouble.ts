import type { OpenedStores } from "../store/open-store.ts";

/** A look costs a request to each remote store. */
const LOOK_MS = 5_000;
/** While there is trouble, its end is awaited. */
const TROUBLED_LOOK_MS = 1_000;

/** Reports why a remote store cannot be used. Looks every few seconds, one look at a time. */
export class RemoteTrouble {
  readonly #stores: () => Pick<OpenedStores, "trouble"> | undefined;
  #last: string | undefined;
  #looking = false;
  #lookedMs = Number.NEGATIVE_INFINITY;

  constructor(stores: () => Pick<OpenedStores, "trouble"> | undefined) {
    this.#stores = stores;
  }

  /** Returns the result of the last look that has ended, and begins the next one when it is due. */
  async look(): Promise<string | undefined> {
    const stores = this.#stores();
    const pauseMs = this.#last === undefined ? LOOK_MS : TROUBLED_LOOK_MS;
    if (stores !== undefined && !this.#looking && performance.now() - this.#lookedMs >= pauseMs) {
      this.#looking = true;
      // Not awaited: a service that hangs must not delay the health of everything else.
      void stores
        .trouble()
        .then(
          (trouble) => trouble?.message,
          (error: unknown) => String(error),
        )
        .then((reason) => {
          this.#last = reason;
          this.#lookedMs = performance.now();
          this.#looking = false;
        });
    }
    return this.#last;
  }
}
