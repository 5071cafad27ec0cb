import { expect, test } from "vitest";
import { QuickClock } from "../../../test/support/quick-clock.ts";
import { SharedThrottle } from "./shared-throttle.ts";
import { Throttle, type WrongAttempts } from "./throttle.ts";

const LEAD_MS = 2_000;

const guesser = { address: "192.0.2.7", name: "admin" };

test("wrong attempts at several nodes are delayed as at one", async () => {
  const alone = new QuickClock();
  const one = new Throttle(alone);
  const clock = new QuickClock(0, LEAD_MS);
  const lead = new Throttle(clock);
  const nodes = [1, 2, 3].map(() => new SharedThrottle(new Throttle(clock), lead, clock));
  for (let n = 0; n < 9; n++) {
    await one.wrong(guesser);
    await nodes[n % 3]?.wrong(guesser);
  }
  expect(clock.slept).toEqual(alone.slept);
  expect(clock.slept[8]).toBeGreaterThan(clock.slept[0] ?? 0);
});

test("a node without a lead delays wrong attempts by itself", async () => {
  const clock = new QuickClock(0, LEAD_MS);
  const away: WrongAttempts = {
    wrong: () => Promise.reject(new Error("no lead")),
    wrongUnhashed: () => Promise.reject(new Error("no lead")),
  };
  const node = new SharedThrottle(new Throttle(clock), away, clock);
  await node.wrong(guesser);
  expect(await node.wrongUnhashed(guesser.address)).toBe("waited");
  expect(clock.slept).toHaveLength(2);
  expect(clock.slept[1]).toBeGreaterThan(clock.slept[0] ?? 0);
});
