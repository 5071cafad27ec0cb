import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import { intersectRects, rectCount, type TileRect } from "../grid/grid-set.ts";
import { countedTiles, metatileAt } from "../grid/metatile.ts";
import type { Catalogue } from "../layer/catalogue.ts";
import { coverageAt, findSubset, formatsBeside, type Layer } from "../layer/layer.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { JobOptions } from "../plan/job-options.ts";
import type { Reservation } from "../quota/reservations.ts";
import type { Leave, Refused } from "../render/admission.ts";
import {
  isWanted,
  type RenderFailure,
  type RenderGate,
  type RenderOrder,
  type RenderOutcome,
  tileSetsOf,
  type WrittenTile,
} from "../render/render-order.ts";
import { isOutage } from "../source/source.ts";
import type { TileStore } from "../store/tile-store.ts";
import type { ActiveJob, Task, Tries } from "./active-job.ts";
import { LONGEST_RUN } from "./batch-size.ts";
import { failureLimitReason } from "./failure-limits.ts";
import { JobAborted, JobSuspension, type Work } from "./job-runner.ts";
import { FAILED_TILES_KEPT, type FailedTile, type JobStore } from "./job-store.ts";
import { SeedGuard } from "./seed-guard.ts";
import { expectedSize, type SeedRoom } from "./seed-room.ts";
import { waitForStore } from "./store-wait.ts";
import { type IsCounted, type MetatilePlace, WantedTiles } from "./wanted-tiles.ts";

export interface SeedingParts {
  readonly ledger: Ledger;
  readonly store: TileStore;
  readonly gate: RenderGate;
  readonly jobs: JobStore;
  readonly catalogue: () => Catalogue;
  /**
   * Returns the time of the last soft truncation of a layer: tiles written before it count as expired. ms since 1970;
   * 0: none.
   */
  readonly expiredBeforeMs: (layer: string) => number;
  /** Returns when a layer's tiles were last moved inside the store, ms since 1970. 0: never. */
  readonly movedMs: (layer: string) => number;
  /**
   * Returns whether other programs write to a layer's tiles, or may have written to them. If so, the job asks the store
   * instead of the ledger.
   */
  readonly sharedStore: (layer: string) => boolean;
  readonly options: () => JobOptions;
  /** Writes all changes in one transaction. */
  readonly persist: (also: () => void) => void;
  readonly room: SeedRoom;
  /** Waits until the marks of opened cells are on the disk. */
  readonly marksCommitted: () => Promise<void>;
  readonly now: () => number;
  /**
   * Returns the present time, or the latest time that the wall clock has shown if the clock was set back, ms since
   * 1970.
   */
  readonly latestMs: () => number;
  /** ms by the monotonic clock. */
  readonly monotonicNow: () => number;
  /** 0 ≤ n < 1. */
  readonly random: () => number;
  /** Aborted when the server shuts down: renders in flight finish, and all waits end. */
  readonly closing: AbortSignal;
}

/** One metatile of a job, with its tile set and parameters. */
interface Metatile extends MetatilePlace {
  readonly n: bigint;
  /** The number of the combination of parameters among the job's. */
  readonly combination: number;
  readonly parameters: Readonly<Record<string, string>>;
}

/** A metatile that a task has taken. */
interface CountedMetatile extends Metatile {
  readonly isCounted: IsCounted;
}

/** A metatile that must be rendered, and the mask of the tiles to store. Null: all tiles. */
interface WantedMetatile {
  readonly metatile: CountedMetatile;
  readonly wanted: Uint8Array | null;
}

/** The outcome of a rendered metatile, and the reservation under which its tiles were stored. */
interface Asked {
  readonly wanted: Uint8Array | null;
  readonly outcome: RenderOutcome;
  readonly reservation: Reservation;
}

/** The number of metatiles without wanted tiles after which a step yields to the event loop. */
const LOOKS_PER_TURN = 512;
/** Pauses between probes of a dead upstream, ms: the first and the longest. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
/** Multiples of the golden ratio modulo 1 stay far apart, so successive probes hit different parts of the map. */
const [GOLDEN, GOLDEN_WHOLE] = [618_034n, 1_000_000n];
/** The coarsest resolution of file times, ms. */
const FILE_CLOCK_MS = 10;
/** The longest Retry-After that the job obeys, ms. */
const LONGEST_RETRY_AFTER_MS = 60_000;

const tilesIn = (rect: TileRect, wanted: Uint8Array | null): number =>
  wanted === null ? Number(rectCount(rect)) : wanted.reduce((sum, one) => sum + one, 0);

/** Seed and reseed: takes metatiles, finds their missing tiles, has the renderers render them, and counts. */
export class Seeding implements Work {
  readonly #parts: SeedingParts;
  readonly #tiles: WantedTiles;

  constructor(parts: SeedingParts) {
    this.#parts = parts;
    this.#tiles = new WantedTiles(parts);
  }

  async step(job: ActiveJob, task: Task, signal: AbortSignal, crowded: () => boolean): Promise<boolean> {
    const layer = this.#layer(job);
    if (job.request.type === "reseed") {
      job.overtaken ??= this.#overtake(job);
      await job.overtaken;
    }
    let rendered = 0;
    for (let left = job.claimSize; left > 0; ) {
      if (!job.mayWork(task, this.#parts.monotonicNow())) return true;
      const most = crowded() || isOneByOne(job, layer) ? 1 : Math.min(left, job.runLength.metatiles);
      const { run, looked } = this.#take(job, task, layer, most);
      const [first] = run;
      if (first === undefined) {
        if (looked === LOOKS_PER_TURN) await turn();
        if (rendered > 0 || looked > 0) return true;
        if (job.tasks.length === 1) this.#close(job, task);
        return false;
      }
      if (run.length > 1) await this.#renderBatch(job, task, layer, run, signal);
      else await this.#render(job, task, layer, first.metatile, signal);
      rendered += run.length;
      left -= run.length;
      if (this.#mustStop(signal) || crowded()) return true;
    }
    return true;
  }

  /**
   * Raises the generation of the layer, so that every tile that is younger than the job's start shows the present map.
   */
  async #overtake(job: ActiveJob): Promise<void> {
    const isFirst = !job.resumed;
    await this.#parts.gate.overtake(job.request.layer);
    if (!isFirst) return;
    // Use the latest time that the wall clock has shown: after the clock was set back, tiles from before would look
    // younger than the job.
    job.startedMs = this.#parts.latestMs();
    job.dirty = true;
    // File times have a coarse resolution: without the wait, a tile stored next could look older than the job.
    await sleep(FILE_CLOCK_MS);
  }

  /**
   * Takes metatiles until there are enough for one batch. `looked` counts the metatiles without wanted tiles. An empty
   * `run` means that `LOOKS_PER_TURN` metatiles were checked or that no metatile is left.
   */
  #take(job: ActiveJob, task: Task, layer: Layer, most: number): { run: WantedMetatile[]; looked: number } {
    const run: WantedMetatile[] = [];
    let looked = 0;
    for (let tiles = 0; run.length < most && tiles < LONGEST_RUN && looked < LOOKS_PER_TURN; ) {
      const n = job.take();
      if (n === undefined) break;
      task.claim.push(n);
      const place = this.#metatile(job, layer, n);
      const metatile = { ...place, isCounted: this.#tiles.counted(job, place) };
      const wanted = this.#tiles.wanted(job, layer, metatile, metatile.isCounted);
      if (wanted === "none") {
        this.#finish(job, task, metatile, undefined);
        looked++;
      } else {
        run.push({ metatile, wanted });
        tiles += Number(rectCount(place.rect));
      }
    }
    return { run, looked };
  }

  /**
   * Checks the failure limits when the last task has found no more work.
   * @throws JobAborted
   */
  #close(job: ActiveJob, task: Task): void {
    // Some tiles that existed when the job was accepted have been deleted since, or another writer has renewed them.
    if (job.request.onlyExisting === true) task.processed += job.counts.skipRest();
    const reason = failureLimitReason(job.request, job.counts.sum, "all done");
    if (reason !== undefined) throw new JobAborted(reason);
  }

  /**
   * Returns whether the task was removed from its job or the server shuts down. Unfinished metatiles are rendered after
   * the next start.
   */
  #mustStop(signal: AbortSignal): boolean {
    return signal.aborted || this.#parts.closing.aborted;
  }

  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    const ended = AbortSignal.any([signal, this.#parts.closing]);
    // Node's timers take at most 2^31 - 1 ms.
    await sleep(Math.min(ms, 2 ** 31 - 1), undefined, { signal: ended }).catch(() => undefined);
  }

  #layer(job: ActiveJob): Layer {
    const layer = this.#parts.catalogue().layers.get(job.request.layer);
    if (layer === undefined) throw new JobAborted("the layer has been removed");
    return layer;
  }

  #metatile(job: ActiveJob, layer: Layer, n: bigint): Metatile {
    const { tileSet, combination, walk, local } = job.locate(n);
    const { gridSet } = tileSet;
    const rendered = job.combinations[combination];
    const subset = findSubset(layer, gridSet);
    const coverage = subset === undefined ? undefined : coverageAt(subset, walk.rect.z);
    const counted = countedTiles(walk, local);
    const whole = coverage === undefined ? undefined : intersectRects(metatileAt(walk, local), coverage);
    if (whole === undefined || rendered === undefined) {
      throw new JobAborted(`the layer no longer offers ${gridSet} at zoom ${walk.rect.z}`);
    }
    return { n, tileSet, combination, parameters: rendered.parameters, rect: whole, counted };
  }

  /**
   * Counts a metatile as finished: a wanted tile is stored, unchanged or failed, and every other counted tile is
   * skipped.
   */
  #finish(
    job: ActiveJob,
    task: Task,
    { n, rect, counted, isCounted }: CountedMetatile,
    done:
      | { wanted: Uint8Array | null; failed: true }
      | { wanted: Uint8Array | null; rendered: Extract<RenderOutcome, { readonly kind: "stored" }> }
      | undefined,
  ): void {
    let worked = 0n;
    let all = 0n;
    for (let y = counted.minY; y <= counted.maxY; y++) {
      for (let x = counted.minX; x <= counted.maxX; x++) {
        if (!isCounted(x, y)) continue;
        all++;
        if (done !== undefined && isWanted(done.wanted, rect, x, y)) worked++;
      }
    }
    const skipped = all - worked;
    if (done === undefined) job.counts.add(rect.z, { skipped });
    else if ("failed" in done) job.counts.add(rect.z, { skipped, failed: worked });
    else {
      // Only a reseed counts unchanged tiles. A seed renders missing and expired tiles, and an expired tile is renewed
      // even if its picture is the same.
      const same = job.request.type === "reseed" ? done.rendered.unchanged : [];
      const counts = ({ x, y }: { x: number; y: number }) => isCounted(x, y) && isWanted(done.wanted, rect, x, y);
      const unchanged = BigInt(same.filter(counts).length);
      job.counts.add(rect.z, { skipped, unchanged, stored: worked - unchanged, bytes: BigInt(done.rendered.bytes) });
    }
    // There may be more tiles than the ledger knew of when the job was accepted.
    if (job.request.onlyExisting === true) job.counts.coverWorked(rect.z);
    task.processed += all;
    task.claim = task.claim.filter((other) => other !== n);
    job.finished.add(n);
    job.dirty = true;
  }

  /** Renders one metatile. `leave` undefined: a probe, of which nothing is stored. */
  async #ask(
    job: ActiveJob,
    metatile: Metatile,
    wanted: Uint8Array | null,
    leave: Leave | undefined,
    signal: AbortSignal,
  ): Promise<RenderOutcome> {
    const { gate } = this.#parts;
    const [outcome = { kind: "cancelled" }] = await this.#opened(
      job,
      [{ metatile, wanted }],
      leave,
      signal,
      async ([order]) => (order === undefined ? [] : [await gate.render(order, signal)]),
    );
    return outcome;
  }

  /**
   * Opens the cells of metatiles, renders the metatiles, and closes the cells. Returns no outcomes if the task was
   * aborted before the render.
   */
  async #opened(
    job: ActiveJob,
    metatiles: readonly { readonly metatile: Metatile; readonly wanted: Uint8Array | null }[],
    leave: Leave | undefined,
    signal: AbortSignal,
    render: (orders: readonly RenderOrder[]) => Promise<readonly RenderOutcome[]>,
  ): Promise<readonly RenderOutcome[]> {
    const { ledger, marksCommitted } = this.#parts;
    const layer = this.#layer(job);
    const terms = termsOf(job, layer);
    const open = ledger.openAll(
      metatiles.flatMap(({ metatile: { tileSet, rect } }) =>
        tileSetsOf({ ...terms, tileSet }).map((filled) => ({ tileSet: filled, rect })),
      ),
    );
    try {
      const mustCommit = open.some((cells) => cells.mustCommit);
      const unmarked = mustCommit ? await marksCommitted().catch((error: unknown) => String(error)) : undefined;
      if (unmarked !== undefined)
        return [{ kind: "full", reason: `the state database cannot be written: ${unmarked}` }];
      if (signal.aborted) return [];
      return await render(
        metatiles.map(({ metatile: { tileSet, parameters, rect }, wanted }) => ({
          ...terms,
          ...(this.#tiles.areMissing(job, layer, rect.z) ? { isNew: true } : {}),
          ...(leave === undefined ? {} : { leave }),
          tileSet,
          parameters,
          rect,
          wanted,
        })),
      );
    } finally {
      for (const cells of open) ledger.close(cells);
    }
  }

  /**
   * Renders the metatiles as one batch and handles each outcome. Metatiles that the batch did not reach go back to the
   * job.
   */
  async #renderBatch(
    job: ActiveJob,
    task: Task,
    layer: Layer,
    run: readonly WantedMetatile[],
    signal: AbortSignal,
  ): Promise<void> {
    using held = this.#reserve(job);
    const { reservation } = held;
    const isAmple = this.#parts.room.tryReserve(reservation, expectedSize(job, layer, run));
    if (!isAmple) await this.#admitted(job, reservation, signal);
    // Without room for the whole batch, render one metatile: the next one may not fit.
    const together = isAmple ? run : run.slice(0, 1);
    const { gate } = this.#parts;
    const render = (orders: readonly RenderOrder[]) => gate.renderBatch(orders, signal);
    const leave = { id: reservation.id, ...reservation.held };
    const outcomes = this.#mustStop(signal) ? [] : await this.#opened(job, together, leave, signal, render);
    // Release the rest of the reservation before the next metatile asks for room.
    reservation.release();
    const reached = run.slice(0, outcomes.length);
    giveBack(
      job,
      task,
      run.slice(outcomes.length).map(({ metatile }) => metatile.n),
    );
    job.runLength.learn(outcomes);
    for (const [i, { metatile, wanted }] of reached.entries()) {
      const outcome = outcomes[i];
      if (outcome !== undefined)
        await this.#render(job, task, layer, metatile, signal, { wanted, outcome, reservation });
    }
  }

  /** Renders a metatile until it is finished or given back. `first`: the outcome of a render that has already run. */
  async #render(
    job: ActiveJob,
    task: Task,
    layer: Layer,
    metatile: CountedMetatile,
    signal: AbortSignal,
    first?: Asked,
  ): Promise<void> {
    const { request } = job;
    let { attempts, lastChance } = job.tries.get(metatile.n) ?? { attempts: 0, lastChance: false };
    job.tries.delete(metatile.n);
    for (let known = first; known !== undefined || !this.#mustStop(signal); known = undefined) {
      const asked = known ?? (await this.#renderOnce(job, task, layer, metatile, { attempts, lastChance }, signal));
      if (asked === undefined) return;
      const { wanted, outcome, reservation } = asked;
      if (signal.aborted) {
        // The tiles were stored before the abort arrived. The metatiles of a killed task go back to the job, so count
        // this one only if no other task has taken it since.
        if (outcome.kind === "stored" && (task.claim.includes(metatile.n) || job.takeBack(metatile.n)))
          this.#finish(job, task, metatile, { wanted, rendered: outcome });
        return;
      }
      switch (outcome.kind) {
        case "stored":
          job.lastGood = metatile.n;
          job.storeAwaySinceMs = undefined;
          this.#finish(job, task, metatile, { wanted, rendered: outcome });
          return this.#lookAt(job, layer, outcome.written ?? []);
        case "cancelled":
          return;
        case "stale":
          continue;
        case "full":
          await this.#refused(job, reservation.refused ?? { kind: "disk_full", reason: outcome.reason }, signal);
          continue;
        case "store_away":
          await this.#waitForStore(job, outcome.reason, signal);
          continue;
        case "failed":
          if (outcome.failure === "no_tile") return this.#finish(job, task, metatile, undefined);
      }
      attempts++;
      const triesLeft = lastChance ? 0 : request.retryCount + 1 - attempts;
      const inDoubt = isOutage(outcome.failure) && !request.ownFailurePolicy && !lastChance;
      if (triesLeft > 0) {
        job.retries++;
        job.dirty = true;
        await this.#pause(request.retryWaitMs * 2 ** (attempts - 1), outcome, signal);
      }
      if (inDoubt && triesLeft <= 1) {
        // Is this metatile bad, or is the upstream down? A probe of a metatile that was rendered before tells. Probe
        // before the last try, not after it: if the upstream came back between the last try and the probe, this
        // metatile would be counted as failed.
        job.outage ??= this.#waitOut(job, layer, metatile, outcome.message, signal).finally(() => {
          job.outage = undefined;
        });
        const state = await job.outage;
        if (this.#mustStop(signal)) return;
        attempts = 0;
        lastChance = state === "alive";
        continue;
      }
      if (triesLeft > 0) continue;
      this.#fail(job, task, metatile, wanted, outcome);
      return;
    }
  }

  /**
   * Renders a metatile once. Undefined: no tile was wanted, or the task must stop, or the rate limit put the metatile
   * off.
   */
  async #renderOnce(
    job: ActiveJob,
    task: Task,
    layer: Layer,
    metatile: CountedMetatile,
    tries: Tries,
    signal: AbortSignal,
  ): Promise<Asked | undefined> {
    const wanted = this.#tiles.wanted(job, layer, metatile, metatile.isCounted);
    if (wanted === "none") {
      this.#finish(job, task, metatile, undefined);
      return undefined;
    }
    using held = this.#reserve(job);
    const { reservation } = held;
    await this.#admitted(job, reservation, signal);
    if (this.#mustStop(signal)) return undefined;
    const nowMs = this.#parts.monotonicNow();
    if (!job.mayRender(task, nowMs)) {
      this.#putOff(job, task, metatile.n, tries);
      return undefined;
    }
    job.rateLimiter.begin(tilesIn(metatile.rect, wanted), job.terms.rateLimit, nowMs);
    // Nothing is reserved yet: the renderer asks for room when it knows the size of the encoded tiles.
    const leave = { id: reservation.id, ...reservation.held };
    const outcome = await this.#ask(job, metatile, wanted, leave, signal);
    job.runLength.learn([outcome]);
    return { wanted, outcome, reservation };
  }

  /**
   * Gives a metatile back because the rate limit is reached. The next task that takes it continues with its number of
   * tries.
   */
  #putOff(job: ActiveJob, task: Task, n: bigint, tries: Tries): void {
    if (tries.attempts > 0 || tries.lastChance) job.tries.set(n, tries);
    giveBack(job, task, [n]);
  }

  /**
   * Checks stored tiles with the layer's seed guard, unless a user has resumed the job since the start of the server.
   * @throws JobSuspension if the tiles are suspicious
   */
  #lookAt(job: ActiveJob, { seedGuard }: Layer, written: readonly WrittenTile[]): void {
    if (seedGuard === undefined || job.isLookedAt) return;
    if (job.guard?.options !== seedGuard) job.guard = new SeedGuard(seedGuard);
    for (const { digest, bytes, replaced, fingerprint } of written) {
      const look = { bytes, replaced, ...(fingerprint === undefined ? {} : { fingerprint }) };
      const reason = digest === undefined ? undefined : job.guard.look({ ...look, digest });
      if (reason !== undefined) throw new JobSuspension(`paused: the tiles are suspicious: ${reason}`);
    }
  }

  /** Returns a reservation that is released at the end of the caller's block. */
  #reserve(job: ActiveJob): Disposable & { readonly reservation: Reservation } {
    const reservation = this.#parts.room.begin(job.request.layer);
    return { reservation, [Symbol.dispose]: () => reservation.release() };
  }

  /**
   * Waits until there is room for at least one tile.
   * @throws JobAborted if there never will be room
   */
  async #admitted(job: ActiveJob, reservation: Reservation, signal: AbortSignal): Promise<void> {
    while (!this.#mustStop(signal)) {
      const admission = await this.#parts.room.reserve(reservation, { bytes: 0, files: 0 });
      if (admission.kind === "store") {
        job.noRoomSinceMs = undefined;
        return;
      }
      await this.#refused(job, admission, signal);
    }
  }

  /**
   * Waits before the job asks for room again.
   * @throws JobAborted if there never will be room
   */
  async #refused(job: ActiveJob, refusal: Refused, signal: AbortSignal): Promise<void> {
    switch (refusal.kind) {
      case "busy":
        await turn();
        return;
      case "full":
        throw new JobAborted(refusal.reason);
      case "disk_full":
        await this.#waitForRoom(job, refusal.reason, signal);
    }
  }

  /**
   * Waits while the disk is full, until an operator makes room.
   * @throws JobAborted after the outage limit
   */
  async #waitForRoom(job: ActiveJob, reason: string, signal: AbortSignal): Promise<void> {
    const { monotonicNow: now, options, random } = this.#parts;
    job.noRoomSinceMs ??= now();
    const waitedMs = now() - job.noRoomSinceMs;
    if (waitedMs > options().outageLimitSeconds * 1000)
      throw new JobAborted(`there has been no room for ${options().outageLimitSeconds} seconds: ${reason}`);
    const waiting = `waiting for room: ${reason}`;
    job.reason = waiting;
    job.dirty = true;
    await this.#sleep(pauseAfter(waitedMs, random()), signal);
    // A user may have paused or ended the job in the meantime.
    if (job.reason === waiting) job.reason = null;
  }

  /** Waits for the store. All tasks of a job share one wait, and the job sends the upstream no requests meanwhile. */
  #waitForStore(job: ActiveJob, reason: string, signal: AbortSignal): Promise<void> {
    const { store, monotonicNow: now, options, random } = this.#parts;
    job.storeWait ??= waitForStore(job, reason, {
      store,
      now,
      limitSeconds: () => options().outageLimitSeconds,
      pauseMs: (awayMs) => pauseAfter(awayMs, random()),
      sleep: (ms) => this.#sleep(ms, signal),
      mustStop: () => this.#mustStop(signal),
    }).finally(() => {
      job.storeWait = undefined;
    });
    return job.storeWait;
  }

  #fail(
    job: ActiveJob,
    task: Task,
    metatile: CountedMetatile,
    wanted: Uint8Array | null,
    outcome: RenderFailure,
  ): void {
    const { combination, rect, counted, isCounted } = metatile;
    const before = job.counts.sum.failed;
    this.#finish(job, task, metatile, { wanted, failed: true });
    const failedInAll = job.counts.sum.failed;
    const failed = Number(failedInAll - before);
    const tiles: FailedTile[] = [];
    for (let y = counted.minY; y <= counted.maxY; y++) {
      for (let x = counted.minX; x <= counted.maxX; x++) {
        if (isCounted(x, y) && isWanted(wanted, rect, x, y))
          tiles.push({ z: rect.z, x, y, combination, class: outcome.failure, message: outcome.message });
      }
    }
    const { x, y } = tiles[0] ?? { x: counted.minX, y: counted.minY };
    job.noteError(outcome.failure, outcome.message, failed, [x, y, counted.z]);
    if (before < BigInt(FAILED_TILES_KEPT)) {
      this.#parts.persist(() => this.#parts.jobs.addFailedTiles(job.id, tiles));
    }
    const reason = failureLimitReason(job.request, job.counts.sum, "going on");
    if (reason !== undefined) throw new JobAborted(`${reason}, last: ${outcome.message}`);
  }

  /** Waits before a retry. Jitter keeps the tasks of a job from retrying at the same moment. */
  async #pause(ms: number, outcome: RenderFailure, signal: AbortSignal): Promise<void> {
    const jittered = ms * (0.5 + this.#parts.random());
    const asked = Math.min(outcome.retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS);
    await this.#sleep(Math.max(jittered, asked), signal);
  }

  /**
   * Probes an upstream with other metatiles than the one in doubt, until it answers. Returns "alive" if the upstream
   * answered at once or answers other requests: then the metatile in doubt is bad. Returns "was_down" if the upstream
   * came back.
   */
  async #waitOut(
    job: ActiveJob,
    layer: Layer,
    doubted: Metatile,
    words: string,
    signal: AbortSignal,
  ): Promise<"alive" | "was_down"> {
    const { monotonicNow: now, options } = this.#parts;
    const since = now();
    let pauseMs = FIRST_PAUSE_MS;
    let failedMs = Number.POSITIVE_INFINITY;
    for (let probes = 0; !this.#mustStop(signal); probes++) {
      const probe = this.#metatile(job, layer, this.#probeNumber(job, doubted.n, probes));
      const outcome = await this.#ask(job, probe, new Uint8Array(Number(rectCount(probe.rect))), undefined, signal);
      const answered =
        outcome.kind === "stored" ||
        outcome.kind === "stale" ||
        outcome.kind === "full" ||
        outcome.kind === "store_away" ||
        (outcome.kind === "failed" && !isOutage(outcome.failure));
      if (answered) {
        // Later probes use this metatile, of which the upstream is known to answer a request: then a probe tells an
        // outage from a part of the map that fails.
        job.lastGood ??= probe.n;
        job.reason = null;
        job.dirty = true;
        return probes === 0 ? "alive" : "was_down";
      }
      // The upstream has answered other requests since the last probe: only this job's part of the map cannot be
      // rendered.
      if (outcome.kind === "failed" && (outcome.answeredMsAgo ?? Number.POSITIVE_INFINITY) < now() - failedMs) {
        job.reason = null;
        job.dirty = true;
        return "alive";
      }
      failedMs = now();
      const leftMs = since + options().outageLimitSeconds * 1000 - failedMs;
      if (leftMs <= 0)
        throw new JobAborted(`the upstream has been down for ${options().outageLimitSeconds} seconds: ${words}`);
      job.reason = `waiting for the upstream: ${words}`;
      job.dirty = true;
      await this.#sleep(Math.min(leftMs, pauseMs * (0.75 + this.#parts.random() / 2)), signal);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
    return "was_down";
  }

  /**
   * Returns the number of a metatile that was rendered before. If there is none, returns a different number for each
   * probe, far from those before, as a part of the map may fail.
   */
  #probeNumber(job: ActiveJob, doubted: bigint, probes: number): bigint {
    if (job.lastGood !== undefined) return job.lastGood;
    const away = (job.metatiles * ((BigInt(probes + 1) * GOLDEN) % GOLDEN_WHOLE)) / GOLDEN_WHOLE;
    return (doubted + (away === 0n ? 1n : away)) % job.metatiles;
  }
}

/** Returns a pause as long as the wait so far, within bounds, with jitter. `random`: at least 0 and below 1. */
const pauseAfter = (waitedMs: number, random: number): number =>
  Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, waitedMs)) * (0.75 + random / 2);

/**
 * Gives metatiles back to the job. Skips metatiles that are no longer in the task's claim: a kill has already given
 * them back.
 */
function giveBack(job: ActiveJob, task: Task, numbers: readonly bigint[]): void {
  job.giveBack(numbers.filter((n) => task.claim.includes(n)));
  task.claim = task.claim.filter((n) => !numbers.includes(n));
}

/** Returns the parts of a render order that are the same for all metatiles of a job. */
function termsOf(
  { request, createdMs }: ActiveJob,
  layer: Layer,
): Pick<RenderOrder, "beside" | "sinceMs" | "watched" | "renewed"> {
  const { format, onlyExisting, olderThanMs } = request;
  // A job over existing or old tiles has checked one format only, so it must not write the other formats.
  const isLooking = onlyExisting === true || olderThanMs !== undefined;
  const beside = isLooking || format === null ? [] : formatsBeside(layer, format);
  return {
    ...(beside.length === 0 ? {} : { beside }),
    // A render that a user or another job requested earlier may show the data that this reseed replaces.
    ...(request.type === "reseed" ? { sinceMs: createdMs } : {}),
    ...(layer.seedGuard === undefined ? {} : { watched: true }),
    ...(olderThanMs === undefined ? {} : { renewed: true }),
  };
}

/**
 * Returns whether each metatile must be counted by the rate limit or checked by the seed guard before the next one is
 * rendered.
 */
const isOneByOne = ({ terms, isLookedAt }: ActiveJob, { seedGuard }: Layer): boolean =>
  terms.rateLimit !== null || (seedGuard !== undefined && !isLookedAt);
