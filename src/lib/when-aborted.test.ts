import { expect, test } from "vitest";
import { whenAborted } from "./when-aborted.ts";

test("all who wait for a signal are told once, in order; who has called off is not", () => {
  const abort = new AbortController();
  const told: string[] = [];
  whenAborted(abort.signal, () => told.push("first"));
  const callOff = whenAborted(abort.signal, () => told.push("second"));
  whenAborted(abort.signal, () => told.push("third"));
  callOff();
  abort.abort();
  abort.abort();
  expect(told).toEqual(["first", "third"]);
});

test("one who calls off another while both are told keeps it from being told", () => {
  const abort = new AbortController();
  const told: string[] = [];
  let callOff = (): void => {};
  whenAborted(abort.signal, () => callOff());
  callOff = whenAborted(abort.signal, () => told.push("second"));
  abort.abort();
  expect(told).toEqual([]);
});

test("each signal has those who wait for it, and the same act may wait twice for different ones", () => {
  const [one, other] = [new AbortController(), new AbortController()];
  let told = 0;
  const act = (): void => void told++;
  whenAborted(one.signal, act);
  whenAborted(other.signal, act);
  one.abort();
  expect(told).toBe(1);
});
