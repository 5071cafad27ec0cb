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
  /** Tiles of a layer written before this have been truncated softly, ms since 1970; 0: none. */
  readonly expiredBeforeMs: (layer: string) => number;
  /** When a layer's tiles were last moved inside the store, ms since 1970; 0: never. */
  readonly movedMs: (layer: string) => number;
  /** Whether other programs write to a layer's tiles, or may have done so: then the store is asked, not the ledger. */
  readonly sharedStore: (layer: string) => boolean;
  readonly options: () => JobOptions;
  /** Writes everything that changed, in one transaction. */
  readonly persist: (also: () => void) => void;
  readonly room: SeedRoom;
  /** Resolves once the marks of opened cells are on the disk. */
  readonly marksCommitted: () => Promise<void>;
  readonly now: () => number;
  /** The present time, or a later one that the wall clock has shown before, ms since 1970. */
  readonly latestMs: () => number;
  /** ms by a clock that never steps. */
  readonly monotonicNow: () => number;
  /** 0 ≤ n < 1. */
  readonly random: () => number;
  /** The server is shutting down: what is in flight is finished, nobody waits for anything any more. */
  readonly closing: AbortSignal;
}

/** One metatile of a job, with what is to be done there. */
interface Metatile extends MetatilePlace {
  readonly n: bigint;
  /** The number of its combination among the job's. */
  readonly combination: number;
  readonly parameters: Readonly<Record<string, string>>;
}

/** One that is worked on. */
interface CountedMetatile extends Metatile {
  readonly isCounted: IsCounted;
}

/** One that has to be rendered, and which of its tiles are to be kept. */
interface WantedMetatile {
  readonly metatile: CountedMetatile;
  readonly wanted: Uint8Array | null;
}

/** What came of one that was rendered, and the reservation under which it was stored. */
interface Asked {
  readonly wanted: Uint8Array | null;
  readonly outcome: RenderOutcome;
  readonly reservation: Reservation;
}

/** Metatiles that are looked at in one go when nothing has to be rendered, before others get their turn. */
const LOOKS_PER_TURN = 512;
/** Pauses between probes of a dead upstream, ms: the first and the longest. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
/** Steps of the golden ratio of a whole come nowhere near each other for long. */
const [GOLDEN, GOLDEN_WHOLE] = [618_034n, 1_000_000n];
/** The longest step of the clock that files have their times from, ms. */
const FILE_CLOCK_MS = 10;
/** A Retry-After longer than this is asked again sooner. */
const LONGEST_RETRY_AFTER_MS = 60_000;

const tilesIn = (rect: TileRect, wanted: Uint8Array | null): number =>
  wanted === null ? Number(rectCount(rect)) : wanted.reduce((sum, one) => sum + one, 0);

/** Seed and reseed: takes metatiles, looks which tiles are missing, has them rendered, and counts. */
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

  /** From now on what is younger than the job's start is of the map as it is now. */
  async #overtake(job: ActiveJob): Promise<void> {
    const isFirst = !job.resumed;
    await this.#parts.gate.overtake(job.request.layer);
    if (!isFirst) return;
    // A clock that was set back would make the tiles of before look younger than the job.
    job.startedMs = this.#parts.latestMs();
    job.dirty = true;
    // The clock of a file system goes in steps: what is stored next must not look older.
    await sleep(FILE_CLOCK_MS);
  }

  /**
   * Takes metatiles until there are enough to render in one go; `looked`: those of which nothing was wanted. None to render: as
   * many were looked at as others can wait for, or nothing is left.
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

  /** The last task has found nothing to do. @throws JobAborted */
  #close(job: ActiveJob, task: Task): void {
    // Of what was kept when the job was made some is there no more, or has been renewed by others.
    if (job.request.onlyExisting === true) task.processed += job.counts.skipRest();
    const reason = failureLimitReason(job.request, job.counts.sum, "all done");
    if (reason !== undefined) throw new JobAborted(reason);
  }

  /** The task was taken out, or the server is shutting down: what is not finished is done after the next start. */
  #mustStop(signal: AbortSignal): boolean {
    return signal.aborted || this.#parts.closing.aborted;
  }

  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    const ended = AbortSignal.any([signal, this.#parts.closing]);
    // Timers know no longer time.
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

  /** Books a metatile: what was wanted is stored, was kept as rendered, or failed; the rest was there. */
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
      // A seed renders what is missing or has expired: that the picture of an expired tile is the same makes it no less fresh.
      const same = job.request.type === "reseed" ? done.rendered.unchanged : [];
      const counts = ({ x, y }: { x: number; y: number }) => isCounted(x, y) && isWanted(done.wanted, rect, x, y);
      const unchanged = BigInt(same.filter(counts).length);
      job.counts.add(rect.z, { skipped, unchanged, stored: worked - unchanged, bytes: BigInt(done.rendered.bytes) });
    }
    // More may be kept than was known of when the job was made.
    if (job.request.onlyExisting === true) job.counts.coverWorked(rect.z);
    task.processed += all;
    task.claim = task.claim.filter((other) => other !== n);
    job.finished.add(n);
    job.dirty = true;
  }

  /** `leave` undefined: nothing is to be stored. */
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

  /** Has metatiles rendered while their cells are open. None: the job was ended before. */
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

  /** Renders in one go, and does with each what is to be done with its outcome; what it did not come to is taken again. */
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
    // One by one where the next may be one too many.
    const together = isAmple ? run : run.slice(0, 1);
    const { gate } = this.#parts;
    const render = (orders: readonly RenderOrder[]) => gate.renderBatch(orders, signal);
    const leave = { id: reservation.id, ...reservation.held };
    const outcomes = this.#mustStop(signal) ? [] : await this.#opened(job, together, leave, signal, render);
    // What was not stored is given up before the next metatile asks for room.
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

  /** `first`: what has come of it already. */
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
        // It was stored all the same. What a killed task had taken belongs to the others: one of them may be at it already.
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
        // Is it this metatile, or is the upstream down? One that could be rendered before tells, ahead of the last try: an
        // upstream that came back between that and the question would have this metatile take the blame.
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

  /** Undefined: there was nothing to render, or it must not be rendered now. */
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
    // The renderer asks for room when it knows the size of the encoded tiles.
    const leave = { id: reservation.id, ...reservation.held };
    const outcome = await this.#ask(job, metatile, wanted, leave, signal);
    job.runLength.learn([outcome]);
    return { wanted, outcome, reservation };
  }

  /** The rate limit is reached: whoever comes next takes it up where it was. */
  #putOff(job: ActiveJob, task: Task, n: bigint, tries: Tries): void {
    if (tries.attempts > 0 || tries.lastChance) job.tries.set(n, tries);
    giveBack(job, task, [n]);
  }

  /**
   * What was stored is looked at by the layer's guard, until somebody has looked.
   * @throws JobSuspended
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

  /** A reservation that lives as long as its block. */
  #reserve(job: ActiveJob): Disposable & { readonly reservation: Reservation } {
    const reservation = this.#parts.room.begin(job.request.layer);
    return { reservation, [Symbol.dispose]: () => reservation.release() };
  }

  /** Waits until there is room for something. @throws JobAborted when there never will be */
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

  /** Waits before room is asked for again. @throws JobAborted when there never will be any */
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

  /** A pause for a full disk; somebody has to make room. */
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
    // Somebody may have paused or ended it meanwhile.
    if (job.reason === waiting) job.reason = null;
  }

  /** The tasks of a job look at the store together, so that the upstream is left in peace. */
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

  /** Doubling pauses with jitter, so that the tasks of a job do not come back in step. */
  async #pause(ms: number, outcome: RenderFailure, signal: AbortSignal): Promise<void> {
    const jittered = ms * (0.5 + this.#parts.random());
    const asked = Math.min(outcome.retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS);
    await this.#sleep(Math.max(jittered, asked), signal);
  }

  /**
   * Probes an upstream with something else than the metatile in doubt, until it answers.
   * "alive": it did at once, or answers others, so the metatile is to blame. "was_down": it came back.
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
        // What has been seen to answer is asked the next time: one that comes back by itself is told from a part that fails.
        job.lastGood ??= probe.n;
        job.reason = null;
        job.dirty = true;
        return probes === 0 ? "alive" : "was_down";
      }
      // Others have their pictures meanwhile: it is this job's part of the map that cannot be rendered.
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

  /** A metatile that has been rendered before; else another one each time, far from those before: a part may fail. */
  #probeNumber(job: ActiveJob, doubted: bigint, probes: number): bigint {
    if (job.lastGood !== undefined) return job.lastGood;
    const away = (job.metatiles * ((BigInt(probes + 1) * GOLDEN) % GOLDEN_WHOLE)) / GOLDEN_WHOLE;
    return (doubted + (away === 0n ? 1n : away)) % job.metatiles;
  }
}

/** As long as it has waited already, within bounds, with jitter: `random` is at least 0 and below 1. */
const pauseAfter = (waitedMs: number, random: number): number =>
  Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, waitedMs)) * (0.75 + random / 2);

/** For whoever comes next. What a killed task had taken has been given back. */
function giveBack(job: ActiveJob, task: Task, numbers: readonly bigint[]): void {
  job.giveBack(numbers.filter((n) => task.claim.includes(n)));
  task.claim = task.claim.filter((n) => !numbers.includes(n));
}

/** What is the same for all that a job has rendered. */
function termsOf(
  { request, createdMs }: ActiveJob,
  layer: Layer,
): Pick<RenderOrder, "beside" | "sinceMs" | "watched" | "renewed"> {
  const { format, onlyExisting, olderThanMs } = request;
  // Whoever renews what is kept, or old, has looked at one format alone.
  const isLooking = onlyExisting === true || olderThanMs !== undefined;
  const beside = isLooking || format === null ? [] : formatsBeside(layer, format);
  return {
    ...(beside.length === 0 ? {} : { beside }),
    // What a user or another job has asked for before may be of the data that this one is to replace.
    ...(request.type === "reseed" ? { sinceMs: createdMs } : {}),
    ...(layer.seedGuard === undefined ? {} : { watched: true }),
    ...(olderThanMs === undefined ? {} : { renewed: true }),
  };
}

/** After each of its metatiles somebody has to look before the next is rendered. */
const isOneByOne = ({ terms, isLookedAt }: ActiveJob, { seedGuard }: Layer): boolean =>
  terms.rateLimit !== null || (seedGuard !== undefined && !isLookedAt);
