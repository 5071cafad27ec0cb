import { expect, test } from "vitest";
import { coverageOf, layerNamed } from "../../../test/support/layer.ts";
import type { Message } from "../../lib/channel.ts";
import { forVersion2 } from "./version-2.ts";

const layers = [layerNamed("a"), layerNamed("b")];

/** Returns the member of a value at a path of keys and indexes. */
const at = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce((one, key) => (typeof one === "object" && one !== null ? Reflect.get(one, key) : undefined), value);

test.each<Message>([
  { kind: "note", method: "begin", args: [{ layers, names: new Map([["a", 2n]]) }] },
  { kind: "call", id: 1, method: "configure", args: [{ layers, names: new Map([["a", 2n]]) }], cancellable: false },
])("a node of version 2 gets the coverage of each grid subset: $kind", (message) => {
  const sent = forVersion2(message);
  const [first, second] = ["0", "1"].map((n) => at(sent, "args", "0", "layers", n, "gridSubsets", "0"));
  for (const subset of [first, second])
    expect(at(subset, "coverage")).toEqual(Array.from({ length: 31 }, (_, z) => coverageOf(layers[0], z)));
  expect(at(first, "gridSet"), "one copy for all layers").toBe(at(second, "gridSet"));
  expect(at(sent, "args", "0", "layers", "1")).toMatchObject({ ...layers[1], gridSubsets: [{ zoomStart: 0 }] });
  expect(at(sent, "args", "0", "names")).toEqual(new Map([["a", 2n]]));
});
