import { expect, test } from "vitest";
import { machineClock } from "../../lib/time/machine-clock.ts";
import type { WatchedStore } from "../../store/open-store.ts";
import type { StoreTrouble } from "../../store/store.ts";
import { StoreWatch } from "./store-watch.ts";

const trouble = (message: string): StoreTrouble => ({ message, isConfiguration: false });

/** A remote store whose checks never end, and whose operations fail as `state` says. */
function startWatch(state: { away?: string; found?: StoreTrouble | undefined }) {
  const events: string[] = [];
  const store: WatchedStore = {
    id: "main",
    isRemote: true,
    trouble: async () => state.found,
    failedRenewals: () => 0,
    away: () => (state.away === undefined ? undefined : trouble(state.away)),
  };
  const watch = new StoreWatch(
    () => ({ watched: [store] }),
    () => events.push("back"),
    () => events.push("changed"),
    machineClock,
  );
  return { watch, events };
}

test("a store counts as away for as long as its readers are refused, whatever the last look has found", async () => {
  const state: { away?: string; found?: StoreTrouble } = {};
  const { watch, events } = startWatch(state);
  expect(await watch.first()).toEqual([]);
  state.away = "it hangs";
  expect(watch.look()).toBe("it hangs");
  delete state.away;
  expect(watch.look()).toBeUndefined();
  expect(events).toEqual(["back"]);
});

test("a look that finds the store away is not remembered longer than the store is away", async () => {
  const { watch } = startWatch({ found: { ...trouble("it hangs"), isAway: true } });
  expect(await watch.first()).toEqual([]);
});

test("a trouble that only a look finds is reported, and said to be new", async () => {
  const { watch, events } = startWatch({ found: trouble("the bucket does not exist") });
  expect(await watch.first()).toEqual([trouble("the bucket does not exist")]);
  expect(events).toEqual(["changed"]);
});
