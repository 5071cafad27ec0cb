import { expect, test } from "vitest";
import { jobRequest } from "../../../test/support/jobs/job-request.ts";
import { nothingStored } from "../../../test/support/jobs/nothing-kept.ts";
import { layerNamed } from "../../../test/support/layer.ts";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { catalogueOf } from "../../layer/catalogue.ts";
import type { LayerJobs } from "../../layer/layer.ts";
import { JobCounts } from "../../plan/job/job-counts.ts";
import { emptyProgress } from "../../plan/job/job-progress.ts";
import type { JobRequest } from "../../plan/job/job-request.ts";
import { type JobTerms, STANDARD_TERMS } from "../../plan/job/job-terms.ts";
import { ActiveJob } from "../active/active-job.ts";
import type { Task } from "../active/task.ts";
import { FairQueue } from "./fair-queue.ts";

/** A fair queue whose tasks begin and end when the test requests it. */
function dealing(permits: number, layers: Readonly<Record<string, LayerJobs>>) {
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  let maxRunningTasks = permits;
  const catalogue = catalogueOf(Object.entries(layers).map(([name, jobs]) => layerNamed(name, { jobs })));
  const fairQueue = new FairQueue({
    catalogue: () => catalogue,
    options: () => ({
      maxRunningTasks,
      maxThreadCount: 128,
      outageLimitSeconds: 1,
      historyDays: 1,
      historyJobs: 1,
      historyMiB: 1,
      confirmTiles: 1,
    }),
    clock,
  });
  const jobs = new Map<number, ActiveJob>();
  const running: { readonly job: ActiveJob; readonly task: Task }[] = [];
  const turns = new Map<number, number>();
  let taskId = 0;
  const givePermits = (): void => {
    for (
      let next = fairQueue.next(clock.monotonicNow());
      next !== undefined;
      next = fairQueue.next(clock.monotonicNow())
    ) {
      fairQueue.took(next.job, next.task);
      next.job.begin(
        next.task,
        { wallMs: clock.monotonicNow(), monotonicMs: clock.monotonicNow() },
        async () => undefined,
      );
      running.push(next);
      turns.set(next.job.id, (turns.get(next.job.id) ?? 0) + 1);
    }
  };
  const giveBack = (n: number): void => {
    const [given] = running.splice(n, 1);
    if (given === undefined) return;
    given.job.stop(given.task, false);
    fairQueue.gaveBack(given.job, given.task);
  };
  return {
    turns,
    running,
    givePermits,
    pass: (ms: number) => {
      clock.pass(ms);
    },
    clock,
    setPlaces: (n: number) => {
      maxRunningTasks = n;
    },
    crowds: (id: number) => fairQueue.crowds(job(id)),
    waitMs: () => fairQueue.waitMs(clock.monotonicNow()),
    runningOf: (layer: string) => running.filter((one) => one.job.request.layer === layer).length,
    add(id: number, threads: number, request: Partial<JobRequest>, terms: Partial<JobTerms> = {}): ActiveJob {
      const stored = {
        id,
        state: "pending" as const,
        request: jobRequest({
          ranges: [{ gridSet: "EPSG:900913", rects: [{ z: 12, minX: 0, minY: 0, maxX: 4095, maxY: 4095 }] }],
          metatile: [1, 1],
          ...request,
        }),
        progress: emptyProgress(new JobCounts()),
        createdMs: 0,
        startedMs: null,
        endedMs: null,
        tasks: Array.from({ length: threads }, () => ({ id: ++taskId, state: "live" as const, processed: 0n })),
        paused: false,
        createdBy: null,
        retryOf: null,
        schedule: null,
        requestedWith: null,
        hold: null,
        terms: { ...STANDARD_TERMS, ...terms },
      };
      const made = new ActiveJob(stored, false, nothingStored.storedMetatiles, () => undefined);
      jobs.set(id, made);
      fairQueue.join(made);
      return made;
    },
    /** Lets every running task render once and give its permit back if another job waits for one. */
    step(): void {
      for (let n = running.length - 1; n >= 0; n--) {
        const at = running[n];
        if (at !== undefined && fairQueue.crowds(at.job)) giveBack(n);
      }
      givePermits();
    },
    giveBack,
    leave: (id: number) => fairQueue.leave(job(id)),
  };

  function job(id: number): ActiveJob {
    const found = jobs.get(id);
    if (found === undefined) throw new Error(`no job ${id}`);
    return found;
  }
}

test("permits follow priorities times the weights of layers, and the least of them has its share", () => {
  const at = dealing(4, { a: { weight: 1 }, b: { weight: 3 } });
  at.add(1, 8, { layer: "a" }, { priority: 1 });
  at.add(2, 8, { layer: "a" }, { priority: 10 });
  at.add(3, 8, { layer: "b" }, { priority: 10 });
  at.givePermits();
  for (let n = 0; n < 4100; n++) at.step();
  const all = [...at.turns.values()].reduce((sum, n) => sum + n, 0);
  const shares = [1, 2, 3].map((id) => Math.round(((at.turns.get(id) ?? 0) / all) * 41));
  expect(shares).toEqual([1, 10, 30]);
});

test("a layer runs no more tasks than its limit, and jobs of other layers get the remaining permits", () => {
  const at = dealing(8, { a: { weight: 100, maxTasks: 2 }, b: { weight: 1 } });
  at.add(1, 8, { layer: "a" }, { priority: 100 });
  at.add(2, 8, { layer: "a" });
  at.add(3, 3, { layer: "b" });
  at.givePermits();
  for (let n = 0; n < 100; n++) {
    expect([at.runningOf("a"), at.runningOf("b")]).toEqual([2, 3]);
    at.step();
  }
  // Permits are free, but not for the layer: the two jobs must still take turns.
  expect(at.turns.get(2)).toBeGreaterThan(5);
  expect(at.turns.get(1)).toBeGreaterThan(5 * (at.turns.get(2) ?? 0));
  expect(at.turns.get(3)).toBe(3);
});

test("a job is not crowded while only its own tasks wait, or other jobs wait for something else", () => {
  const at = dealing(2, { a: { weight: 1 }, b: { weight: 1, maxTasks: 1 } });
  at.add(1, 8, { layer: "a" });
  at.givePermits();
  expect(at.crowds(1)).toBe(false);
  at.add(2, 2, { layer: "b" });
  expect(at.crowds(1)).toBe(true);
  at.step();
  // The layer of the other job has one permit, which the other job holds: its waiting task needs that permit, not this
  // job's.
  expect([at.runningOf("a"), at.runningOf("b"), at.crowds(1), at.crowds(2)]).toEqual([1, 1, false, true]);
  at.setPlaces(1);
  expect(at.crowds(1)).toBe(true);
});

test("nothing passes a truncate that came before it in its layer", () => {
  const at = dealing(4, { a: { weight: 1 }, b: { weight: 1 } });
  at.add(1, 1, { layer: "a", type: "truncate" });
  at.add(2, 4, { layer: "a" });
  at.add(3, 1, { layer: "b" });
  at.givePermits();
  expect(at.running.map(({ job }) => job.id).sort()).toEqual([1, 3]);
  at.giveBack(at.running.findIndex(({ job }) => job.id === 1));
  at.leave(1);
  at.givePermits();
  expect(at.running.map(({ job }) => job.id).sort()).toEqual([2, 2, 2, 3]);
});

test("a job whose rate limit is reached has no place, and says when it wants one; to the others nothing is lost", () => {
  const at = dealing(2, { a: { weight: 1 } });
  const limited = at.add(1, 4, { layer: "a" }, { rateLimit: 2, priority: 100 });
  at.givePermits();
  // One task searches for a metatile to render, and the other tasks wait for it.
  expect(at.running).toHaveLength(1);
  limited.rateLimiter.begin(1, 2, at.clock.monotonicNow());
  at.add(2, 4, { layer: "a" });
  at.givePermits();
  expect(at.runningOf("a")).toBe(2);
  expect(at.waitMs()).toBe(500);
  at.giveBack(at.running.findIndex(({ job }) => job === limited));
  at.givePermits();
  expect(at.running.map(({ job }) => job.id)).toEqual([2, 2]);
  at.pass(500);
  expect([at.crowds(2), at.waitMs()]).toEqual([true, undefined]);
  at.step();
  expect(at.running.map(({ job }) => job.id).sort()).toEqual([1, 2]);
});
