import { expect, test } from "vitest";
import { differences } from "./differences.ts";

test("the values that differ are named by their paths", () => {
  const before = { name: "a", source: { url: "x", layers: ["a", "b"] }, gutter: 0, old: [1] };
  const after = { name: "a", source: { url: "y", layers: ["a"] }, gutter: null, added: { k: 1 } };
  expect(differences(before, after)).toEqual([
    { path: "source.url", before: '"x"', after: '"y"' },
    { path: "source.layers[1]", before: '"b"', after: undefined },
    { path: "gutter", before: "0", after: undefined },
    { path: "old", before: "[1]", after: undefined },
    { path: "added", before: undefined, after: '{"k":1}' },
  ]);
});

test("equal documents do not differ, whatever the order of their keys", () => {
  expect(differences({ a: 1, b: [{ c: 2 }] }, { b: [{ c: 2 }], a: 1 })).toEqual([]);
});
