import { expect, test } from "vitest";
import { FairLine, SharedTurn } from "./fair-line.ts";

const stays = new AbortController().signal;

/** Returns a line, the log of its answers, and functions that add an entry and answer the next one. */
function lined() {
  const line = new FairLine<string>();
  const answered: string[] = [];
  const wait = (name: string, turn: SharedTurn, signal = stays): void =>
    void line.wait(turn, signal).then(
      (value) => answered.push(`${name} ${value}`),
      () => answered.push(`${name} left`),
    );
  const next = async (): Promise<void> => {
    line.answerFirst("next");
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { line, answered, wait, next };
}

test("clients take turns, and each client's own are answered first come, first served", async () => {
  const { line, answered, wait, next } = lined();
  for (const name of ["a1", "a2", "a3"]) wait(name, new SharedTurn("a"));
  for (const name of ["b1", "b2"]) wait(name, new SharedTurn("b"));
  await next();
  wait("c1", new SharedTurn("c"));
  for (let n = 0; n < 5; n++) await next();
  expect(answered.map((each) => each.slice(0, 2))).toEqual(["a1", "b1", "a2", "c1", "b2", "a3"]);
  expect([line.length, line.answerFirst("next")]).toEqual([0, false]);
});

test("a place that a second client joins is answered at that client's turn, once", async () => {
  const { line, answered, wait, next } = lined();
  for (const name of ["a1", "a2"]) wait(name, new SharedTurn("a"));
  const shared = new SharedTurn("a");
  wait("a3", shared);
  shared.join("b");
  await next();
  await next();
  expect(answered).toEqual(["a1 next", "a3 next"]);
  expect(line.length).toBe(1);
  await next();
  expect(answered.at(-1)).toBe("a2 next");
  expect(line.answerFirst("next")).toBe(false);
});

test("an entry that leaves by its signal delays no other entry", async () => {
  const { line, answered, wait, next } = lined();
  const leaving = new AbortController();
  wait("a1", new SharedTurn("a", "b"), leaving.signal);
  wait("b1", new SharedTurn("b"));
  leaving.abort();
  await next();
  expect(answered).toEqual(["a1 left", "b1 next"]);
  expect(line.length).toBe(0);
});

test("in a full line the client with the most waiting requests loses its last one, unless others share it", async () => {
  const { line, answered, wait, next } = lined();
  for (const name of ["a1", "a2"]) wait(name, new SharedTurn("a"));
  wait("a3", new SharedTurn("a", "b"));
  expect([line.hasLongestQueue("a"), line.hasLongestQueue("b"), line.hasLongestQueue("c")]).toEqual([
    true,
    false,
    false,
  ]);
  line.answerInLongestQueue("refused");
  await next();
  expect(answered).toEqual(["a2 refused", "a1 next"]);
  line.answerOthers("refused");
  await next();
  expect(answered.at(-1)).toBe("a3 next");
});
