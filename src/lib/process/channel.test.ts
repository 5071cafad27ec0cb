import { MessageChannel } from "node:worker_threads";
import { afterEach, expect, test } from "vitest";
import { Channel } from "./channel.ts";

interface Far {
  add(a: number, b: number): number;
  fail(): Promise<void>;
  remember(word: string): void;
  words(): readonly string[];
  wait(name: string, signal: AbortSignal): Promise<string>;
}
type Near = Record<never, never>;

let close = (): void => {};
afterEach(() => close());

function channels(): { near: Channel<Near, Far>; started: Promise<void> } {
  const { port1, port2 } = new MessageChannel();
  close = () => port1.close();
  const words: string[] = [];
  let start = (): void => {};
  const started = new Promise<void>((resolve) => {
    start = resolve;
  });
  new Channel<Far, Near>(port2, {
    add: (a, b) => a + b,
    fail: () => Promise.reject(new Error("broken")),
    remember: (word) => void words.push(word),
    words: () => words,
    wait: (name, signal) =>
      new Promise((resolve) => {
        const report = (): void => resolve(`${name}: ${String(signal.reason)}`);
        if (signal.aborted) report();
        signal.addEventListener("abort", report);
        start();
      }),
  });
  return { near: new Channel<Near, Far>(port1, {}), started };
}

test("calls answer, notes arrive before later calls", async () => {
  const { near } = channels();
  near.note("remember", ["one"]);
  near.note("remember", ["two"]);
  expect(await near.call("add", 2, 3)).toBe(5);
  expect(await near.call("words")).toEqual(["one", "two"]);
});

test("what the other side throws is thrown here", async () => {
  const { near } = channels();
  await expect(near.call("fail")).rejects.toThrow("broken");
});

test("a cancelled call aborts the other side's signal, and no other call's", async () => {
  const { near, started } = channels();
  const abort = new AbortController();
  const other = new AbortController();
  const first = near.callUntil(abort.signal, "wait", "first");
  const second = near.callUntil(other.signal, "wait", "second");
  await started;
  abort.abort();
  expect(await first).toBe("first: Error: cancelled");
  other.abort();
  expect(await second).toBe("second: Error: cancelled");
});

test("a call with an aborted signal is cancelled at once", async () => {
  const { near } = channels();
  expect(await near.callUntil(AbortSignal.abort(), "wait", "late")).toBe("late: Error: cancelled");
});

test("a closed channel fails what waits and what comes", async () => {
  const { near, started } = channels();
  const waiting = near.callUntil(new AbortController().signal, "wait", "for ever");
  await started;
  near.close(new Error("the other side has ended"));
  await expect(waiting).rejects.toThrow("the other side has ended");
  await expect(near.call("add", 1, 1)).rejects.toThrow("the other side has ended");
});

test("a note that throws is reported at the receiving side, and does not end its process", async () => {
  const { port1, port2 } = new MessageChannel();
  close = () => port1.close();
  const failed: string[] = [];
  const done = new Promise<void>((resolve) => {
    new Channel<{ throwNow(): void; throwLater(): Promise<void> }, Near>(
      port2,
      {
        throwNow: () => {
          throw new Error("broken");
        },
        throwLater: () => Promise.reject(new Error("broken later")),
      },
      (method, error) => {
        failed.push(`${method}: ${String(error)}`);
        if (failed.length === 2) resolve();
      },
    );
  });
  const near = new Channel<Near, { throwNow(): void; throwLater(): Promise<void> }>(port1, {});
  near.note("throwNow", []);
  near.note("throwLater", []);
  await done;
  expect(failed).toEqual(["throwNow: Error: broken", "throwLater: Error: broken later"]);
});
