import { type BackOff, pauseAfterWait } from "../../lib/time/back-off.ts";
import { isOutage, SourceError } from "../source.ts";

/** The pauses of an address that is down. Each further failure in a row doubles the pause. */
const PAUSES: BackOff = { firstMs: 1_000, longestMs: 60_000 };

interface Mirror {
  readonly url: string;
  /** 0 if the address is healthy, otherwise the length of its latest pause in ms. */
  pauseMs: number;
  pauseEndsMs: number;
  /** Whether a render is testing if the address is back. */
  probing: boolean;
  /** The number of pauses so far. The result of an attempt that began before the latest pause is ignored. */
  epoch: number;
}

/**
 * Returns whether an address counts as down. A truncated answer counts too, because another server may send the whole
 * answer.
 */
const isDown = ({ failure }: SourceError): boolean => isOutage(failure) || failure === "truncated";

/**
 * Chooses among the addresses of one service; the first healthy address is tried first. An outage pauses an address,
 * and the render continues at once with the next address. After the pause, one render tests the address for all
 * renders, so that an address that hangs does not delay every render again. Each renderer has its own Failover.
 */
export class Failover {
  readonly #mirrors: readonly Mirror[];
  readonly #now: () => number;
  readonly #report: (url: string, isUp: boolean) => void;

  /**
   * @param now returns ms of a monotonic clock
   * @param report called when an address goes down, and when it is back
   */
  constructor(urls: readonly string[], now: () => number, report: (url: string, isUp: boolean) => void = () => {}) {
    this.#mirrors = urls.map((url) => ({ url, pauseMs: 0, pauseEndsMs: 0, probing: false, epoch: 0 }));
    this.#now = now;
    this.#report = report;
  }

  /**
   * Returns the result of the first attempt that is not an outage. Tries each healthy address once, and then the paused
   * address whose pause ends first.
   * @throws the error of the last attempt
   */
  run<T>(attempt: (url: string) => Promise<T>): Promise<T> {
    const [only] = this.#mirrors;
    // With one address there is no other address to try.
    return only !== undefined && this.#mirrors.length === 1 ? attempt(only.url) : this.#tryEach(attempt);
  }

  async #tryEach<T>(attempt: (url: string) => Promise<T>): Promise<T> {
    const tried = new Set<Mirror>();
    let last: unknown;
    for (let mirror = this.#choose(tried); mirror !== undefined; mirror = this.#choose(tried)) {
      const isLast = this.#isPaused(mirror);
      tried.add(mirror);
      const { epoch } = mirror;
      mirror.probing = mirror.pauseMs > 0;
      try {
        const outcome = await attempt(mirror.url);
        this.#update(mirror, epoch, undefined);
        return outcome;
      } catch (error) {
        last = error;
        this.#update(mirror, epoch, error);
        if (isLast || !(error instanceof SourceError) || !isDown(error)) throw error;
      }
    }
    throw last ?? new SourceError("refused", "no address is configured");
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

  /** Updates the state of an address after an attempt. */
  #update(mirror: Mirror, epoch: number, error: unknown): void {
    // Renders that fail at the same time belong to one outage, so the pause doubles only once.
    if (mirror.epoch !== epoch) return;
    mirror.probing = false;
    const failure = error instanceof SourceError ? error : undefined;
    if (failure?.failure === "cancelled") return;
    if (failure !== undefined && isDown(failure)) {
      mirror.epoch++;
      if (mirror.pauseMs === 0) this.#report(mirror.url, false);
      mirror.pauseMs = pauseAfterWait(Math.max(mirror.pauseMs * 2, failure.retryAfterMs ?? 0), PAUSES);
      mirror.pauseEndsMs = this.#now() + mirror.pauseMs;
    } else {
      // The server answers, so it is not down, even if the answer is an error.
      if (mirror.pauseMs > 0) this.#report(mirror.url, true);
      mirror.pauseMs = 0;
    }
  }
}
