import { isOutage, SourceError } from "../source.ts";

/** How long an address that is down is left alone: doubled with each failure in a row. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

interface Mirror {
  readonly url: string;
  /** 0: healthy. Otherwise the length of its latest pause. */
  pauseMs: number;
  pauseEndsMs: number;
  /** One render is finding out whether it is back. */
  probing: boolean;
  /** Counts its pauses: what began before one says nothing about the address after it. */
  epoch: number;
}

/** An answer that is cut off is its server's fault, as one that does not come: another may give it whole. */
const isDown = ({ failure }: SourceError): boolean => isOutage(failure) || failure === "truncated";

/**
 * Addresses of one service, the first that is healthy asked first. An outage pauses an address, and the render goes on at
 * once with the next; when the pause has ended one render finds out for all of them, so that an address that hangs does not
 * hold up everybody again. Each renderer learns for itself.
 */
export class Failover {
  readonly #mirrors: readonly Mirror[];
  readonly #now: () => number;
  readonly #tell: (url: string, isUp: boolean) => void;

  /** `now`: milliseconds of a clock that never goes back. `tell` is called when an address goes down, and when it is back. */
  constructor(urls: readonly string[], now: () => number, tell: (url: string, isUp: boolean) => void = () => {}) {
    this.#mirrors = urls.map((url) => ({ url, pauseMs: 0, pauseEndsMs: 0, probing: false, epoch: 0 }));
    this.#now = now;
    this.#tell = tell;
  }

  /**
   * The outcome of the first attempt that is no outage: each healthy address is tried once, then, of those in a pause, the
   * one whose pause ends first.
   * @throws what the last attempt threw
   */
  async run<T>(attempt: (url: string) => Promise<T>): Promise<T> {
    const tried = new Set<Mirror>();
    let last: unknown;
    for (let mirror = this.#choose(tried); mirror !== undefined; mirror = this.#choose(tried)) {
      const isLast = this.#isPaused(mirror);
      tried.add(mirror);
      const { epoch } = mirror;
      mirror.probing = mirror.pauseMs > 0;
      try {
        const outcome = await attempt(mirror.url);
        this.#settle(mirror, epoch, undefined);
        return outcome;
      } catch (error) {
        last = error;
        this.#settle(mirror, epoch, error);
        if (isLast || !(error instanceof SourceError) || !isDown(error)) throw error;
      }
    }
    throw last ?? new SourceError("refused", "no address to ask");
  }

  #choose(tried: ReadonlySet<Mirror>): Mirror | undefined {
    const rest = this.#mirrors.filter((mirror) => !tried.has(mirror));
    return (
      rest.find((mirror) => !this.#isPaused(mirror)) ?? rest.toSorted((a, b) => a.pauseEndsMs - b.pauseEndsMs).at(0)
    );
  }

  #isPaused(mirror: Mirror): boolean {
    return mirror.pauseMs > 0 && (mirror.probing || this.#now() < mirror.pauseEndsMs);
  }

  /** Takes in what an attempt told about an address. */
  #settle(mirror: Mirror, epoch: number, error: unknown): void {
    // Eight renders that fail together are one outage, not eight doublings.
    if (mirror.epoch !== epoch) return;
    mirror.probing = false;
    const failure = error instanceof SourceError ? error : undefined;
    if (failure?.failure === "cancelled") return;
    if (failure !== undefined && isDown(failure)) {
      mirror.epoch++;
      if (mirror.pauseMs === 0) this.#tell(mirror.url, false);
      const pauseMs = mirror.pauseMs === 0 ? FIRST_PAUSE_MS : mirror.pauseMs * 2;
      mirror.pauseMs = Math.min(Math.max(pauseMs, failure.retryAfterMs ?? 0), LONGEST_PAUSE_MS);
      mirror.pauseEndsMs = this.#now() + mirror.pauseMs;
    } else {
      // It answers: whatever is wrong, it is not down.
      if (mirror.pauseMs > 0) this.#tell(mirror.url, true);
      mirror.pauseMs = 0;
    }
  }
}
