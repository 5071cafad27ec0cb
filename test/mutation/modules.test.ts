import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { EQUIVALENTS } from "./equivalents.ts";
import { MODULES, sourcesOf, testsOf } from "./modules.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

test("each module has sources and tests, and no source is in two modules", () => {
  const all = [...MODULES.values()].flatMap((module) => {
    expect(testsOf(module), String(module.sources)).not.toEqual([]);
    expect(sourcesOf(module), String(module.sources)).not.toEqual([]);
    return sourcesOf(module);
  });
  expect(new Set(all).size).toBe(all.length);
});

test("each equivalent mutant is one of a text in a source of a module", () => {
  const sources = [...MODULES.values()].flatMap(sourcesOf);
  for (const { file, original, reason } of EQUIVALENTS) {
    expect(sources).toContain(file);
    expect(readFileSync(root + file, "utf8").replaceAll(/\s+/g, " "), file).toContain(original);
    expect(reason).toMatch(/^[A-Z].*\.$/);
  }
});
