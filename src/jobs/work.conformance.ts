import { expect, test } from "vitest";
import { StateError } from "../state/data-directory.ts";
import { isStateAway } from "../state/state-wait.ts";
import type { ActiveJob } from "./active/active-job.ts";
import type { Work } from "./work.ts";

/** A job with one task, and the work that carries it out. */
export interface WorkScene {
  readonly work: Work;
  readonly job: ActiveJob;
  /** The number of tiles that the job stores or deletes. */
  readonly tiles: bigint;
  /** Called while the work changes the store for the first time. */
  readonly whenFirstChanged: (act: () => void) => void;
  /** Makes the commits of marks fail with an error, until it is undefined. */
  readonly setStateFault: (error: Error | undefined) => void;
  /** Checks that the store and the ledger have exactly the tiles that must remain after the job. */
  readonly expectDone: () => void;
}

/** More steps than any job of a scene needs. */
const MOST_STEPS = 100;

/** Tests the behaviour of the work of every kind of job, alone and with the waits around it. */
export function workConformance(make: () => Promise<WorkScene>): void {
  const taskOf = (job: ActiveJob) => {
    const [task] = job.tasks;
    if (task === undefined) throw new Error("the job has no task");
    return task;
  };
  /** Runs one step. Returns its result or its error, and gives back the metatiles of the task, as the runner does. */
  async function step({ work, job }: WorkScene, signal: AbortSignal, crowded = false): Promise<unknown> {
    const task = taskOf(job);
    try {
      return await work.step(job, task, signal, () => crowded);
    } catch (error) {
      return error;
    } finally {
      job.giveBack(task, task.claim);
    }
  }
  /** Runs steps until no work is left. Returns how many steps had more work to do. */
  async function finish(scene: WorkScene, crowded = false): Promise<number> {
    for (let steps = 0; steps < MOST_STEPS; steps++) {
      const result = await step(scene, new AbortController().signal, crowded);
      if (result === false) return steps;
      expect(result).toBe(true);
    }
    throw new Error("the work does not end");
  }
  const expectCounted = ({ job, tiles, expectDone }: WorkScene): void => {
    const { sum, processed, left } = job.tally;
    expect({ changed: sum.stored + sum.deleted, total: sum.total, processed, left, failed: sum.failed }).toEqual({
      changed: tiles,
      total: tiles,
      processed: tiles,
      left: 0n,
      failed: 0n,
    });
    expect(taskOf(job).processed).toBe(tiles);
    expectDone();
  };

  test("the steps do all work, and each tile is counted once", async () => {
    const scene = await make();
    await finish(scene);
    expectCounted(scene);
    expect(await step(scene, new AbortController().signal), "no work is left").toBe(false);
    expectCounted(scene);
  });

  test("steps of a crowded job do the same", async () => {
    const scene = await make();
    await finish(scene, true);
    expectCounted(scene);
  });

  test("a step that has been aborted before does nothing", async () => {
    const scene = await make();
    const killed = new Error("killed");
    await step(scene, AbortSignal.abort(killed));
    expect(scene.job.tally.sum.stored + scene.job.tally.sum.deleted).toBe(0n);
    await finish(scene);
    expectCounted(scene);
  });

  test("a step that is aborted while it changes the store ends, and later steps do the remaining work", async () => {
    const scene = await make();
    const ending = new AbortController();
    scene.whenFirstChanged(() => ending.abort(new Error("killed")));
    const result = await step(scene, ending.signal);
    if (result instanceof Error) expect(result).toBe(ending.signal.reason);
    expect(ending.signal.aborted).toBe(true);
    await finish(scene);
    expectCounted(scene);
  });

  test.each([
    ["the remote database is away", new StateError("unavailable", "it is away")],
    ["an operation of its disk fails", Object.assign(new Error("disk I/O error"), { code: "SQLITE_IOERR_WRITE" })],
  ])("a step fails as unavailable, or waits, while %s, and a later step repeats it", async (_, fault) => {
    const scene = await make();
    scene.setStateFault(fault);
    const result = await step(scene, new AbortController().signal);
    if (result instanceof Error) expect(isStateAway(result)).toBe(true);
    else expect(result).toBe(true);
    expect(scene.job.tally.sum.stored + scene.job.tally.sum.deleted).toBe(0n);
    scene.setStateFault(undefined);
    await finish(scene);
    expectCounted(scene);
  });
}
