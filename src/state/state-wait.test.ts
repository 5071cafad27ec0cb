import { expect, test } from "vitest";
import { QuickClock } from "../../test/support/quick-clock.ts";
import { StateError } from "./data-directory.ts";
import { StateWait } from "./state-wait.ts";

const coded = (code: string): Error => Object.assign(new Error(code), { code });
const { signal } = new AbortController();

/** A step that fails with an error once, then returns the number of its runs. */
function failingOnce(error: Error): () => number {
  let runs = 0;
  return () => {
    if (runs++ === 0) throw error;
    return runs;
  };
}

test.each([
  new StateError("unavailable", "it is away"),
  ...["SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC", "SQLITE_READONLY", "SQLITE_CANTOPEN"].map(coded),
])("background work waits after the fault %s, and repeats its step", async (error) => {
  expect(await new StateWait(new QuickClock(), signal).run(failingOnce(error))).toBe(2);
});

test.each([
  new StateError("misconfigured", "it has another password"),
  ...["SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_CONSTRAINT_UNIQUE"].map(coded),
  new TypeError("a mistake of the program"),
])("background work ends with the fault %s, which does not pass", async (error) => {
  await expect(new StateWait(new QuickClock(), signal).run(failingOnce(error))).rejects.toBe(error);
});
