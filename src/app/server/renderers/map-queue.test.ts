import { expect, test } from "vitest";
import { machineClock } from "../../../lib/time/machine-clock.ts";
import { MapQueue } from "./map-queue.ts";

const stays = () => new AbortController().signal;
const held = () => {
  let end = (_value: string): void => undefined;
  const promise = new Promise<string>((resolve) => {
    end = resolve;
  });
  return { promise, end };
};

test("as many maps as the limit allows are composed at once, and maps beyond the queue are refused", async () => {
  const queue = new MapQueue(1, machineClock);
  const first = held();
  const begun: number[] = [];
  const maps = Array.from({ length: 40 }, (_, n) =>
    queue.add(async () => {
      begun.push(n);
      return n === 0 ? first.promise : "map";
    }, stays()),
  );
  await expect.poll(() => begun).toEqual([0]);
  expect(await maps[39]).toEqual({ kind: "refused", retryAfterSeconds: 5 });
  first.end("map");
  const answers = await Promise.all(maps);
  expect(answers.filter((answer) => answer === "map").length).toBe(33);
  expect(begun.length).toBe(33);
});

test("a map whose client has left is not begun, and a begun map gets the abort signal", async () => {
  const queue = new MapQueue(1, machineClock);
  const [first, second] = [new AbortController(), new AbortController()];
  let reported = false;
  const running = queue.add(
    (signal) =>
      new Promise<string>((_, reject) =>
        signal.addEventListener("abort", () => {
          reported = true;
          reject(signal.reason);
        }),
      ),
    first.signal,
  );
  let begun = false;
  const waiting = queue.add(async () => {
    begun = true;
    return "map";
  }, second.signal);
  second.abort(new Error("gone"));
  first.abort(new Error("gone"));
  await expect(running).rejects.toThrow("gone");
  await expect(waiting).rejects.toThrow("gone");
  expect([reported, begun]).toEqual([true, false]);
});

test("a map that waits or takes too long is refused with a time to ask again", async () => {
  const queue = new MapQueue(1, machineClock, { waitMs: -1, workMs: 1 });
  expect(await queue.add(async () => "map", stays())).toMatchObject({ kind: "refused" });
  const slow = new MapQueue(1, machineClock, { workMs: 1 });
  const answer = slow.add(
    (signal) => new Promise<string>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    stays(),
  );
  expect(await answer).toMatchObject({ kind: "refused" });
});
