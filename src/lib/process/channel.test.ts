import { MessageChannel } from "node:worker_threads";
import { afterEach, expect, test } from "vitest";
import { Channel } from "./channel.ts";
import { type MethodsOf, method } from "./method-table.ts";

const FAR = {
  add: method<(a: number, b: number) => Promise<number>>("call"),
  fail: method<() => Promise<void>>("call"),
  remember: method<(word: string) => void>("note"),
  words: method<() => Promise<readonly string[]>>("call"),
  wait: method<(name: string, signal: AbortSignal) => Promise<string>>("until"),
};
type Far = MethodsOf<typeof FAR>;

let close = (): void => {};
afterEach(() => close());

function channels(): { near: Far; close: (reason: Error) => void; started: Promise<void> } {
  const { port1, port2 } = new MessageChannel();
  close = () => port1.close();
  const words: string[] = [];
  let start = (): void => {};
  const started = new Promise<void>((resolve) => {
    start = resolve;
  });
  const far: Far = {
    add: async (a, b) => a + b,
    fail: () => Promise.reject(new Error("broken")),
    remember: (word) => void words.push(word),
    words: async () => words,
    wait: (name, signal) =>
      new Promise((resolve) => {
        const report = (): void => resolve(`${name}: ${String(signal.reason)}`);
        if (signal.aborted) report();
        signal.addEventListener("abort", report);
        start();
      }),
  };
  new Channel(port2, far, {});
  const channel = new Channel(port1, {}, FAR);
  return { near: channel.remote, close: (reason) => channel.close(reason), started };
}

test("calls answer, notes arrive before later calls", async () => {
  const { near } = channels();
  near.remember("one");
  near.remember("two");
  expect(await near.add(2, 3)).toBe(5);
  expect(await near.words()).toEqual(["one", "two"]);
});

test("what the other side throws is thrown here", async () => {
  const { near } = channels();
  await expect(near.fail()).rejects.toThrow("broken");
});

test("a cancelled call aborts the other side's signal, and no other call's", async () => {
  const { near, started } = channels();
  const abort = new AbortController();
  const other = new AbortController();
  const first = near.wait("first", abort.signal);
  const second = near.wait("second", other.signal);
  await started;
  abort.abort();
  expect(await first).toBe("first: Error: cancelled");
  other.abort();
  expect(await second).toBe("second: Error: cancelled");
});

test("a call with an aborted signal is cancelled at once", async () => {
  const { near } = channels();
  expect(await near.wait("late", AbortSignal.abort())).toBe("late: Error: cancelled");
});

test("a closed channel fails what waits and what comes", async () => {
  const { near, close, started } = channels();
  const waiting = near.wait("for ever", new AbortController().signal);
  await started;
  close(new Error("the other side has ended"));
  await expect(waiting).rejects.toThrow("the other side has ended");
  await expect(near.add(1, 1)).rejects.toThrow("the other side has ended");
});

test("a note that throws is reported at the receiving side, and does not end its process", async () => {
  const { port1, port2 } = new MessageChannel();
  close = () => port1.close();
  const failed: string[] = [];
  const done = new Promise<void>((resolve) => {
    new Channel(
      port2,
      {
        throwNow: () => {
          throw new Error("broken");
        },
        throwLater: () => Promise.reject(new Error("broken later")),
      },
      {},
      (method, error) => {
        failed.push(`${method}: ${String(error)}`);
        if (failed.length === 2) resolve();
      },
    );
  });
  const near = new Channel(port1, {}, { throwNow: method<() => void>("note"), throwLater: method<() => void>("note") })
    .remote;
  near.throwNow();
  near.throwLater();
  await done;
  expect(failed).toEqual(["throwNow: Error: broken", "throwLater: Error: broken later"]);
});
