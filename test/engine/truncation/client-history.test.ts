import fc from "fast-check";
import { expect, test } from "vitest";
import { type Call, type JobState, type Operation, violationsOf } from "../../support/jobs/client-history.ts";

/** Steps are this long apart, and a call begins up to so much before its step and ends up to so much after it. */
const APART_MS = 10;
const EARLY_MS = 35;

type Step =
  | { readonly kind: "read"; readonly newer: number }
  | { readonly kind: "truncate" | "undo" | "list" | "seed" | "end" | "job" | "takeOver" };
interface Timed {
  readonly step: Step;
  readonly beforeMs: number;
  readonly afterMs: number;
  readonly isAnswered: boolean;
}

const timed: fc.Arbitrary<Timed> = fc.record({
  step: fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant("read" as const), newer: fc.nat(3) }) },
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constantFrom("truncate", "undo", "list", "seed", "end", "job", "takeOver"),
      }),
    },
  ),
  beforeMs: fc.nat(EARLY_MS),
  afterMs: fc.nat(EARLY_MS),
  isAnswered: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
});

/** One server that carries every call out at one moment between its beginning and its end. */
class OneServer {
  readonly #truncations: { readonly id: number; readonly version: number; state: "kept" | "undone" }[] = [];
  readonly #jobs: { readonly id: number; state: JobState }[] = [];
  #epoch = 1;

  /** `version`: of the map when a truncation began; else of the map now. */
  carryOut(step: Step, version: number): Operation {
    const scope = "a";
    switch (step.kind) {
      case "truncate": {
        const id = this.#truncations.length + 1;
        this.#truncations.push({ id, version, state: "kept" });
        return { kind: "truncate", scope, version, id };
      }
      case "undo": {
        const last = this.#truncations.findLast(({ state }) => state === "kept");
        if (last === undefined) return { kind: "undo", scope, id: 1, isDone: false };
        last.state = "undone";
        return { kind: "undo", scope, id: last.id, isDone: true };
      }
      case "read": {
        const floor = Math.max(0, ...this.#truncations.map((one) => (one.state === "kept" ? one.version : 0)));
        return { kind: "read", scope, place: "0/0/0", version: Math.min(version, floor + step.newer) };
      }
      case "list":
        return { kind: "list", scope, states: new Map(this.#truncations.map(({ id, state }) => [id, state])) };
      case "seed": {
        const id = this.#jobs.length + 1;
        this.#jobs.push({ id, state: id % 2 === 0 ? "pending" : "running" });
        return { kind: "seed", id };
      }
      case "end": {
        const live = this.#jobs.find(({ state }) => state === "pending" || state === "running");
        if (live !== undefined) live.state = "done";
        return { kind: "epoch", epoch: this.#epoch };
      }
      case "job": {
        const job = this.#jobs[0];
        return { kind: "job", id: job?.id ?? 1, state: job?.state ?? "missing", counts: "1" };
      }
      case "takeOver":
        this.#epoch++;
        return { kind: "epoch", epoch: this.#epoch };
    }
  }
}

function historyOf(steps: readonly Timed[]): Call[] {
  const server = new OneServer();
  const starts = steps.map(({ beforeMs }, n) => n * APART_MS - beforeMs);
  const truncationStarts = starts.filter((_, n) => steps[n]?.step.kind === "truncate");
  // The map has a new version with the beginning of each truncation.
  const versionAt = (ms: number): number => 1 + truncationStarts.filter((start) => start <= ms).length;
  return steps.map(({ step, afterMs, isAnswered }, n): Call => {
    const nowMs = n * APART_MS;
    const startMs = starts[n] ?? 0;
    const operation = server.carryOut(step, versionAt(step.kind === "truncate" ? startMs : nowMs));
    const base = { client: `client ${n % 3}`, node: "a", startMs };
    const unanswered: Operation =
      operation.kind === "undo"
        ? { ...operation, isDone: undefined }
        : operation.kind === "truncate"
          ? { ...operation, id: undefined }
          : operation;
    return isAnswered
      ? { ...base, endMs: nowMs + afterMs, operation }
      : { ...base, endMs: undefined, operation: unanswered };
  });
}

test("the history of one server has no violation, however its calls overlap and whatever answers are lost", () => {
  fc.assert(
    fc.property(fc.array(timed, { minLength: 5, maxLength: 80 }), (steps) => {
      expect(violationsOf(historyOf(steps))).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test("a read that is older than a truncation which was answered and never undone is found in any history", () => {
  fc.assert(
    fc.property(fc.array(timed, { minLength: 5, maxLength: 60 }), fc.nat(), (steps, chosen) => {
      const calls = historyOf(steps);
      const undone = calls.flatMap(({ operation }) => (operation.kind === "undo" ? [operation.id] : []));
      const firstUndone = Math.min(Number.POSITIVE_INFINITY, ...undone);
      const truncations = calls.filter(
        ({ operation, endMs }) =>
          operation.kind === "truncate" && endMs !== undefined && (operation.id ?? 0) < firstUndone,
      );
      const after = truncations[chosen % Math.max(1, truncations.length)];
      fc.pre(after?.endMs !== undefined && after.operation.kind === "truncate");
      if (after?.endMs === undefined || after.operation.kind !== "truncate") return;
      const { version, scope } = after.operation;
      const startMs = after.endMs + 1;
      const planted: Operation = { kind: "read", scope, place: "1/0/0", version: version - 1 };
      const found = violationsOf([
        ...calls,
        { client: "late", node: "b", startMs, endMs: startMs + 1, operation: planted },
      ]);
      expect(found).toHaveLength(1);
      expect(found[0]).toMatch(/^a read shows tiles of before a truncation/);
    }),
    { numRuns: 300 },
  );
});

let clock = 0;
/** Calls one after the other. */
const inTurn = (...operations: readonly Operation[]): Call[] =>
  operations.map((operation) => ({ client: "1", node: "a", startMs: clock++, endMs: clock++, operation }));
const truncate = (id: number, version = id): Operation => ({ kind: "truncate", scope: "a", version, id });
const undo = (id: number, isDone = true): Operation => ({ kind: "undo", scope: "a", id, isDone });
const list = (...states: readonly (readonly [number, string])[]): Operation => ({
  kind: "list",
  scope: "a",
  states: new Map(states),
});
const job = (state: JobState, counts = "1"): Operation => ({ kind: "job", id: 7, state, counts });
const seed: Operation = { kind: "seed", id: 7 };

test.each([
  ["two truncations have one id", [truncate(3), truncate(3)]],
  ["a later truncation has no higher id", [truncate(4), truncate(3)]],
  ["a truncation was undone twice", [truncate(1), undo(1), undo(1)]],
  ["an undo passes over a later truncation", [truncate(1), truncate(2), undo(1), list([1, "undone"], [2, "kept"])]],
  ["a truncation is missing", [truncate(1), list()]],
  ["a list knows the future", [list([5, "kept"]), truncate(5)]],
  ["an undone truncation is listed otherwise", [truncate(1), undo(1), list([1, "kept"])]],
  ["the state of truncation 1 went back", [list([1, "undoing"]), list([1, "kept"])]],
  ["truncation 1 ended twice", [list([1, "reclaimed"]), list([1, "undone"])]],
  ["two jobs have one id", [seed, seed]],
  ["a later job has no higher id", [seed, { kind: "seed", id: 6 }]],
  ["an accepted job is missing", [seed, job("missing")]],
  ["job 7 began again after its end", [job("done"), job("running")]],
  ["job 7 changed after its end", [job("done", "1"), job("done", "2")]],
  [
    "the epoch of the lead has fallen",
    [
      { kind: "epoch", epoch: 3 },
      { kind: "epoch", epoch: 2 },
    ],
  ],
] satisfies [string, Operation[]][])("a planted violation is found and told: %s", (rule, operations) => {
  expect(violationsOf(inTurn(...operations)).join("\n")).toContain(rule);
});

test("what an unanswered call may have done is no violation", () => {
  const lost = (operation: Operation): Call => ({
    client: "2",
    node: "b",
    startMs: clock++,
    endMs: undefined,
    operation,
  });
  const old: Operation = { kind: "read", scope: "a", place: "0/0/0", version: 0 };
  const calls = [
    ...inTurn(truncate(1)),
    lost({ kind: "undo", scope: "a", id: 1, isDone: undefined }),
    ...inTurn(old),
    lost({ kind: "truncate", scope: "a", version: 9, id: undefined }),
    ...inTurn(old, list([1, "undone"]), list([1, "undone"], [2, "kept"])),
  ];
  expect(violationsOf(calls)).toEqual([]);
});
