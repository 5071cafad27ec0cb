import { expect, test } from "vitest";
import { activeJob } from "../../../test/support/jobs/active-job.ts";
import type { ActiveJob } from "./active-job.ts";

const ranges = [{ gridSet: "g", rects: [{ z: 1, minX: 0, minY: 0, maxX: 1, maxY: 1 }] }];
const at = { wallMs: 2_000, monotonicMs: 10 };
/** A job of 4 tiles of one metatile each. */
const job = (threads = 1): ActiveJob => activeJob({ ranges, threadCount: threads, metatile: [1, 1] });

const first = (of: ActiveJob) => {
  const [task] = of.tasks;
  if (task === undefined) throw new Error("there is no task");
  return task;
};

test("a job is running while a task is listed as running, and done when its last task has found no more work", () => {
  const one = job();
  const task = first(one);
  expect([one.life.state, one.moment, one.startedMs]).toEqual(["pending", "pending", null]);
  one.begin(task, at, async () => undefined);
  expect([one.life.state, one.moment, one.startedMs]).toEqual(["running", "running", 2_000]);
  one.stop(task, false);
  expect([one.life.state, one.moment]).toEqual(["pending", "running"]);
  one.begin(task, at, async () => undefined);
  one.remove(task);
  one.end({ wallMs: 3_000, monotonicMs: 20 });
  expect([one.life.state, one.life.outcome, one.life.isEnding]).toEqual(["done", "done", true]);
  expect(() => one.pause("too late", null)).toThrow("a job cannot go from ended to paused");
  expect(() => one.beginEnd("too late", null)).toThrow("a job cannot go from ended to ending");
});

test("a pause keeps its reason over a wait of a task that is still stopping, and can be undone", () => {
  const one = job();
  const task = first(one);
  one.begin(task, at, async () => undefined);
  one.beginWait("waiting for room");
  expect(one.reason).toBe("waiting for room");
  const undo = one.pause("paused by ann", null);
  one.beginWait("waiting for the upstream");
  expect([one.life.state, one.life.isPaused, one.reason]).toEqual(["running", true, "paused by ann"]);
  undo();
  expect([one.life.isPaused, one.reason]).toEqual([false, "waiting for the upstream"]);
  one.pause("outside its run window", "held");
  one.stop(task, false);
  one.tasksStopped(20);
  expect([one.life.state, one.life.hold, one.wasInterrupted]).toEqual(["pending", "held", true]);
  one.resume("released");
  expect([one.life.isPaused, one.life.hold, one.reason]).toEqual([false, "released", null]);
  one.endRelease();
  expect(one.life.hold).toBe(null);
});

test("the end of a job is listed as the state before it, until the tasks have stopped", () => {
  const one = job(2);
  for (const task of one.tasks) one.begin(task, at, async () => undefined);
  one.beginEnd("killed", "ann");
  for (const task of [...one.tasks]) {
    one.remove(task);
    one.stop(task, false);
    expect([one.life.state, one.life.outcome, one.reason]).toEqual(["running", null, "killed"]);
  }
  one.end(at);
  expect(one.record(20)).toMatchObject({ state: "aborted", progress: { outcome: "aborted", abortedBy: "ann" } });
});

test("a removed task gives its unfinished metatiles back, and the others take them", () => {
  const one = job(2);
  const [task, other] = one.tasks;
  if (task === undefined || other === undefined) throw new Error("there are two tasks");
  const [a, b] = [one.take(task), one.take(task)];
  if (a === undefined || b === undefined) throw new Error("there are four metatiles");
  one.finish(task, a, 1, { stored: 1n }, 1n);
  expect(one.remove(task)).toBe(true);
  expect(one.remove(task)).toBe(false);
  expect(one.take(other)).toBe(b);
  one.giveBack(task, [b]);
  expect([one.take(other), one.take(other), one.take(other)]).toEqual([2n, 3n, undefined]);
  expect([one.tally.processed, one.tally.left, task.processed]).toEqual([1n, 3n, 1n]);
});

test("a change of a job is marked until it is saved, and again if the transaction is rolled back", () => {
  const one = job();
  expect(one.isChanged).toBe(false);
  one.begin(first(one), at, async () => undefined);
  expect(one.isChanged).toBe(true);
  const undoSave = one.markSaved();
  const undoMoment = one.markAnnounced();
  expect([one.isChanged, one.markAnnounced()]).toEqual([false, undefined]);
  undoSave();
  undoMoment?.();
  expect([one.isChanged, one.markAnnounced() !== undefined]).toEqual([true, true]);
});

test("a job that goes on after a restart takes only the metatiles that it has not finished", () => {
  const before = job();
  const task = first(before);
  for (let n = 0; n < 3; n++) before.take(task);
  before.finish(task, 0n, 1, { stored: 1n }, 1n);
  before.finish(task, 2n, 1, { stored: 1n }, 1n);
  const { progress } = before.record(20);
  const after = activeJob({ ranges, metatile: [1, 1] }, { progress }, true);
  const next = first(after);
  expect([after.take(next), after.take(next), after.take(next)]).toEqual([1n, 3n, undefined]);
  expect([after.tally.processed, after.tally.left]).toEqual([2n, 2n]);
});
