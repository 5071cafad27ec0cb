import { expect, test } from "vitest";
import { SharedThrottle } from "./shared-throttle.ts";
import { type Clock, Throttle, type WrongAttempts } from "./throttle.ts";

const LEAD_MS = 2_000;

/** A clock whose short pauses take no time. It records them. */
function shortClock(): { readonly clock: Clock; readonly slept: number[] } {
  const slept: number[] = [];
  const clock: Clock = {
    now: () => 0,
    sleep: async (ms) => {
      if (ms === LEAD_MS) return new Promise(() => {});
      slept.push(ms);
    },
  };
  return { clock, slept };
}

const guesser = { address: "192.0.2.7", name: "admin" };

test("wrong attempts at several nodes are delayed as at one", async () => {
  const alone = shortClock();
  const one = new Throttle(alone.clock);
  const { clock, slept } = shortClock();
  const lead = new Throttle(clock);
  const nodes = [1, 2, 3].map(() => new SharedThrottle(new Throttle(clock), lead, clock));
  for (let n = 0; n < 9; n++) {
    await one.wrong(guesser);
    await nodes[n % 3]?.wrong(guesser);
  }
  expect(slept).toEqual(alone.slept);
  expect(slept[8]).toBeGreaterThan(slept[0] ?? 0);
});

test("a node without a lead delays wrong attempts by itself", async () => {
  const { clock, slept } = shortClock();
  const away: WrongAttempts = {
    wrong: () => Promise.reject(new Error("no lead")),
    wrongUnhashed: () => Promise.reject(new Error("no lead")),
  };
  const node = new SharedThrottle(new Throttle(clock), away, clock);
  await node.wrong(guesser);
  expect(await node.wrongUnhashed(guesser.address)).toBe("waited");
  expect(slept).toHaveLength(2);
  expect(slept[1]).toBeGreaterThan(slept[0] ?? 0);
});
