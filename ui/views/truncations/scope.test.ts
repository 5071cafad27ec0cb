import { expect, test } from "vitest";
import { bodyOf, parameterSets } from "./scope.ts";

const tileSet = (parametersId: string, parameters: Record<string, string> | null, tiles: number) => ({
  layer: "a",
  gridSet: "EPSG:4326",
  format: "image/png",
  parametersId,
  parameters,
  tiles,
  bytes: tiles,
  bytesOnDisk: tiles,
  zooms: [],
});
const styles = { type: "string", key: "STYLES", default: "" } as const;

test("combinations are summed over grid sets and formats, and the defaults are named by their values", () => {
  const sets = parameterSets(
    [tileSet("", {}, 2), tileSet("x", { STYLES: "night" }, 1), tileSet("x", { STYLES: "night" }, 4)],
    [styles],
  );
  expect(sets).toEqual([
    { parameters: { STYLES: "night" }, text: "STYLES=night", isDefault: false, tiles: 5 },
    { parameters: { STYLES: "" }, text: "STYLES=", isDefault: true, tiles: 2 },
  ]);
});

test("what no request can name is left out: unknown values, and the defaults of a layer without filters", () => {
  expect(parameterSets([tileSet("", {}, 2), tileSet("x", null, 1)], [])).toEqual([]);
});

test("a request has the fields of its scope, and there is none while a choice is missing", () => {
  const choice = { layer: "a", scope: "truncateLayer", mode: "soft", parameters: { STYLES: "night" } } as const;
  expect(bodyOf(choice)).toEqual({ layer: "a", mode: "soft" });
  expect(bodyOf({ ...choice, mode: "hard" })).toEqual({ layer: "a" });
  expect(bodyOf({ ...choice, scope: "truncateOrphans" })).toEqual({ layer: "a", type: "truncateOrphans" });
  const named = { ...choice, scope: "truncateParameters" } as const;
  expect(bodyOf(named)).toEqual({ layer: "a", type: "truncateParameters", parameters: { STYLES: "night" } });
  expect(bodyOf({ ...named, parameters: undefined })).toBeUndefined();
  expect(bodyOf({ ...choice, layer: "" })).toBeUndefined();
});
