import { expect, test } from "vitest";
import { whenAborted } from "./when-aborted.ts";

test("all listeners of a signal are called once, in order; a removed listener is not", () => {
  const abort = new AbortController();
  const reported: string[] = [];
  whenAborted(abort.signal, () => reported.push("first"));
  const callOff = whenAborted(abort.signal, () => reported.push("second"));
  whenAborted(abort.signal, () => reported.push("third"));
  callOff();
  abort.abort();
  abort.abort();
  expect(reported).toEqual(["first", "third"]);
});

test("a listener that removes another one during the call keeps it from being called", () => {
  const abort = new AbortController();
  const reported: string[] = [];
  let callOff = (): void => {};
  whenAborted(abort.signal, () => callOff());
  callOff = whenAborted(abort.signal, () => reported.push("second"));
  abort.abort();
  expect(reported).toEqual([]);
});

test("each signal has its own listeners, and one function may listen to two signals", () => {
  const [one, other] = [new AbortController(), new AbortController()];
  let reported = 0;
  const act = (): void => void reported++;
  whenAborted(one.signal, act);
  whenAborted(other.signal, act);
  one.abort();
  expect(reported).toBe(1);
});
