import { expect, test } from "vitest";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import type { DiskSpace } from "../../store/tile-store.ts";
import { DiskSpaceMonitor } from "./disk-space-monitor.ts";

const space = (freeBytes: number): DiskSpace => ({ freeBytes, totalBytes: 1e9, freeInodes: 1000, totalInodes: 1e6 });

/** A file system that answers when the test allows it, with a clock that the test moves. */
function heldDisk() {
  const requested: { answer: (space: DiskSpace) => void; fail: (error: Error) => void }[] = [];
  const clock = new ManualClock();
  const disk = new DiskSpaceMonitor({
    read: () => new Promise((answer, fail) => void requested.push({ answer, fail })),
    clock,
  });
  return { disk, requested, clock };
}

const settled = () => new Promise(setImmediate);

test("a file system that never answers is queried once, and no caller waits for longer than a second", async () => {
  const { disk, requested, clock } = heldDisk();
  expect(disk.now()).toBeUndefined();
  const waiting = [disk.fresh(), disk.again(), disk.last()];
  await settled();
  clock.pass(999);
  expect(clock.timers).toBe(3);
  clock.pass(1);
  expect(await Promise.all(waiting)).toEqual([undefined, undefined, undefined]);
  // From now on the file system is known to hang.
  expect(await disk.fresh()).toBeUndefined();
  expect(disk.now()).toBeUndefined();
  expect([requested.length, clock.timers, disk.reason]).toEqual([1, 0, "the file system of the store does not answer"]);
});

test("an answer decides for a while after the file system has begun to hang, and then no longer", async () => {
  const { disk, requested, clock } = heldDisk();
  const first = disk.fresh();
  await settled();
  requested[0]?.answer(space(500));
  expect(await first).toEqual(space(500));
  clock.pass(4_000);
  expect(disk.now()).toEqual(space(500));
  expect(requested.length, "a newer one has been requested").toBe(2);
  clock.pass(1_001);
  expect(disk.now()).toBeUndefined();
  clock.pass(54_999);
  expect(await disk.last(), "for people to look at").toEqual(space(500));
  requested[1]?.answer(space(400));
  await settled();
  // The request was made long ago, so its answer is as old.
  expect(disk.now()).toBeUndefined();
});

test("bytes written after the query of the free space are subtracted from its answer", async () => {
  const { disk, requested, clock } = heldDisk();
  const first = disk.fresh();
  disk.wrote({ bytes: 7, allocated: 17, files: 1 });
  await settled();
  disk.wrote({ bytes: 20, allocated: 40, files: 2 });
  requested[0]?.answer(space(500));
  expect(await first).toMatchObject({ freeBytes: 500 - 40, freeInodes: 998 });
  disk.wrote({ bytes: 50, allocated: 60, files: 1 });
  // A tile that replaces a larger one frees no space until the file system reports it.
  disk.wrote({ bytes: -30, allocated: -30, files: 0 });
  expect(disk.now()).toMatchObject({ freeBytes: 400, freeInodes: 997 });
  clock.pass(1_500);
  expect(disk.now()).toMatchObject({ freeBytes: 400 });
  disk.wrote({ bytes: 90, allocated: 100, files: 1 });
  requested[1]?.answer(space(380));
  await settled();
  expect(disk.now(), "only what came after the second question").toMatchObject({ freeBytes: 280, freeInodes: 999 });
});

test("a reading after a removal of files was requested after the removal", async () => {
  const { disk, requested } = heldDisk();
  const before = disk.fresh();
  await settled();
  const after = disk.again();
  requested[0]?.answer(space(1));
  expect(await before).toEqual(space(1));
  await settled();
  requested[1]?.answer(space(900));
  expect(await after).toEqual(space(900));
});

test("a file system that cannot be queried is a reason to refuse, and is queried again", async () => {
  const { disk, requested } = heldDisk();
  const first = disk.fresh();
  await settled();
  requested[0]?.fail(new Error("ESTALE"));
  expect(await first).toBeUndefined();
  expect(disk.reason).toContain("ESTALE");
  const second = disk.fresh();
  for (let n = 0; n < 3; n++) {
    await settled();
    for (const { answer } of requested) answer(space(5));
  }
  expect(await second).toEqual(space(5));
});
