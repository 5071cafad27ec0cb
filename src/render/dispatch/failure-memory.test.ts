import { expect, test } from "vitest";
import type { RenderFailure } from "../render-order.ts";
import { FailureMemory } from "./failure-memory.ts";

const failure: RenderFailure = {
  kind: "failed",
  failure: "server_error",
  message: "status 500",
  retryAfterMs: undefined,
};

function memory(max?: number) {
  const clock = { nowMs: 1_000_000 };
  return { clock, failures: new FailureMemory(() => clock.nowMs, max) };
}

test("a failure is remembered for its time and no longer", () => {
  const { clock, failures } = memory();
  failures.remember("a", "k", failure, 5, failures.epoch("a"));
  expect(failures.find("a", "k")).toMatchObject({ failure, leftMs: 5_000 });
  clock.nowMs += 4_999;
  expect(failures.find("a", "k")).toBeDefined();
  clock.nowMs += 1;
  expect(failures.find("a", "k")).toBeUndefined();
});

test("no failure is remembered without a time, and none that is not the upstream's", () => {
  const { failures } = memory();
  failures.remember("a", "k", failure, 0, failures.epoch("a"));
  failures.remember("a", "l", { ...failure, failure: "store" }, 5, failures.epoch("a"));
  failures.remember("a", "m", { ...failure, failure: "cancelled" }, 5, failures.epoch("a"));
  expect(["k", "l", "m"].map((key) => failures.find("a", key))).toEqual([undefined, undefined, undefined]);
});

test("clearing a layer removes its failures, also those of renders in flight, and keeps those of other layers", () => {
  const { failures } = memory();
  const before = failures.epoch("a");
  failures.remember("a", "k", failure, 5, before);
  failures.remember("b", "l", failure, 5, failures.epoch("b"));
  failures.clear("a");
  failures.remember("a", "m", failure, 5, before);
  expect([failures.find("a", "k"), failures.find("a", "m")]).toEqual([undefined, undefined]);
  expect(failures.find("b", "l")).toBeDefined();
  failures.clearAll();
  expect(failures.find("b", "l")).toBeUndefined();
});

test("a render that succeeds forgets the failure, and the oldest go when there are too many", () => {
  const { failures } = memory(2);
  for (const key of ["k", "l", "m"]) failures.remember("a", key, failure, 5, failures.epoch("a"));
  expect(failures.find("a", "k")).toBeUndefined();
  failures.remove("l");
  expect([failures.find("a", "l"), failures.find("a", "m")]).toEqual([undefined, expect.anything()]);
});

test("what began before all is cleared is not remembered after it, however often its layer was cleared", () => {
  const { failures } = memory();
  for (let cleared = 0; cleared < 3; cleared++) {
    for (let i = 0; i < cleared; i++) failures.clear("a");
    const before = failures.epoch("a");
    failures.clearAll();
    failures.remember("a", "k", failure, 5, before);
    expect(failures.find("a", "k")).toBeUndefined();
    for (let i = 0; i < 5; i++) {
      failures.clear("a");
      expect(failures.epoch("a")).toBeGreaterThan(before);
    }
  }
});
