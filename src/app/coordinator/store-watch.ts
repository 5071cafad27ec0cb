import type { Clock } from "../../lib/time/clock.ts";
import type { OpenedStores, WatchedStore } from "../../store/open-store.ts";
import type { StoreTrouble } from "../../store/store.ts";

/** The pause between checks of a remote store. Each check is a request. */
const REMOTE_LOOK_MS = 4_000;
/** The pause between checks of a local store, and of a store with a fault. */
const LOOK_MS = 1_000;

interface Look {
  /** The fault that the last check has found. An unavailable remote store is not recorded here. */
  trouble: StoreTrouble | undefined;
  /** Whether the last report named the store. */
  wasReported: boolean;
  lookedMs: number;
  looking: Promise<void> | undefined;
}

/**
 * Reports why stores cannot be used. Checks each store every few seconds, one check at a time. Whether a remote store
 * is available is taken from its readers at the time of the report.
 */
export class StoreWatch {
  readonly #stores: () => Pick<OpenedStores, "watched"> | undefined;
  readonly #back: () => void;
  readonly #changed: () => void;
  readonly #clock: Clock;
  readonly #looks = new Map<string, Look>();

  /**
   * `back` is called when an unavailable store can be used again. `changed` is called after a check has found a fault,
   * or the end of one.
   */
  constructor(
    stores: () => Pick<OpenedStores, "watched"> | undefined,
    back: () => void,
    changed: () => void,
    clock: Clock,
  ) {
    this.#clock = clock;
    this.#stores = stores;
    this.#back = back;
    this.#changed = changed;
  }

  /** Returns the present faults in one text, and starts the checks that are due. */
  look(): string | undefined {
    const watched = this.#stores()?.watched ?? [];
    for (const id of this.#looks.keys()) if (!watched.some((store) => store.id === id)) this.#looks.delete(id);
    // Not awaited: a service that hangs must not delay the health of other parts.
    for (const store of watched) this.#lookAt(store);
    return (
      this.#found(watched)
        .map(({ message }) => message)
        .join("; ") || undefined
    );
  }

  /** Checks each store once. Returns the faults of all stores. */
  async first(): Promise<readonly StoreTrouble[]> {
    const watched = this.#stores()?.watched ?? [];
    await Promise.all(watched.map((store) => this.#lookAt(store).looking));
    return this.#found(watched);
  }

  #found(watched: readonly WatchedStore[]): readonly StoreTrouble[] {
    let isBack = false;
    const found = watched.flatMap((store) => {
      const look = this.#looks.get(store.id);
      const trouble = store.away() ?? look?.trouble;
      if (look !== undefined) {
        isBack ||= look.wasReported && trouble === undefined;
        look.wasReported = trouble !== undefined;
      }
      return trouble ?? [];
    });
    if (isBack) this.#back();
    return found;
  }

  #lookAt(store: WatchedStore): Look {
    const { id, isRemote, trouble } = store;
    const known = this.#looks.get(id);
    const last = known ?? {
      trouble: undefined,
      wasReported: false,
      lookedMs: Number.NEGATIVE_INFINITY,
      looking: undefined,
    };
    this.#looks.set(id, last);
    const pauseMs = isRemote && last.trouble === undefined ? REMOTE_LOOK_MS : LOOK_MS;
    if (last.looking !== undefined || this.#clock.monotonicNow() - last.lookedMs < pauseMs) return last;
    last.looking = trouble()
      .catch((error: unknown): StoreTrouble => ({ message: `store ${id}: ${String(error)}`, isConfiguration: false }))
      .then((found) => {
        const had = last.trouble !== undefined;
        last.trouble = found?.isAway === true ? undefined : found;
        last.lookedMs = this.#clock.monotonicNow();
        last.looking = undefined;
        if (had !== (last.trouble !== undefined)) this.#changed();
      });
    return last;
  }
}
