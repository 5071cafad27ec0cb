import { expect, test } from "vitest";
import { whenAborted } from "./when-aborted.ts";

test("all who wait for a signal are told once, in order; who has called off is not", () => {
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

test("one who calls off another while both are told keeps it from being told", () => {
  const abort = new AbortController();
  const reported: string[] = [];
  let callOff = (): void => {};
  whenAborted(abort.signal, () => callOff());
  callOff = whenAborted(abort.signal, () => reported.push("second"));
  abort.abort();
  expect(reported).toEqual([]);
});

test("each signal has those who wait for it, and the same act may wait twice for different ones", () => {
  const [one, other] = [new AbortController(), new AbortController()];
  let reported = 0;
  const act = (): void => void reported++;
  whenAborted(one.signal, act);
  whenAborted(other.signal, act);
  one.abort();
  expect(reported).toBe(1);
});
