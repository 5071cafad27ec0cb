import { expect, test } from "vitest";
import { loadConfiguration } from "../load.ts";
import { mergeReloaded } from "./merge-reloaded.ts";

test("stores change at the next start: until then layers keep their stores, and a new one has the first of the present", async () => {
  const loaded = await loadConfiguration({ env: {}, flags: {}, cwd: "/" });
  if (!loaded.ok) throw new Error("the demo configuration is not valid");
  const demo = loaded.value;
  const [layer] = demo.layers;
  if (layer === undefined) throw new Error("there are no demo layers");
  const store = (id: string) => ({ id, type: "compact" as const, path: `/${id}` });
  const current = {
    ...demo,
    stores: [store("one"), store("two")],
    layers: [
      { ...layer, name: "a" },
      { ...layer, name: "b", store: "two" },
    ],
  };
  const next = {
    ...demo,
    stores: [store("three"), store("two")],
    layers: [
      { ...layer, name: "a", store: "two" },
      { ...layer, name: "b" },
      { ...layer, name: "c", store: "three" },
      { ...layer, name: "d", store: "two" },
    ],
  };
  const { merged, ignored } = mergeReloaded(next, current);
  expect(merged.revision).toBe(current.revision + 1);
  expect(mergeReloaded({ ...current, revision: current.revision + 9 }, current).merged.revision).toBe(current.revision);
  expect(mergeReloaded({ ...next, revision: current.revision + 9 }, current).merged.revision).toBe(
    current.revision + 9,
  );
  expect(ignored).toEqual(["stores"]);
  expect(merged.stores).toEqual(current.stores);
  expect(merged.layers.map((one) => one.store)).toEqual([undefined, "two", undefined, "two"]);
  const moved = mergeReloaded({ ...next, stores: current.stores }, current).merged;
  expect(moved.layers.map((one) => one.store)).toEqual(["two", undefined, "three", "two"]);
});
