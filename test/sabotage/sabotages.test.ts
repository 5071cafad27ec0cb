import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { readSabotages } from "./sabotages.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const sabotages = readSabotages();

test("every sabotage can be applied to the sources", async () => {
  const faults = sabotages.map(async ({ name, file }) => {
    try {
      await promisify(execFile)("git", ["apply", "--check", file], { cwd: root });
      return [];
    } catch (error) {
      return [`${name}: ${String(error)}`];
    }
  });
  expect((await Promise.all(faults)).flat()).toEqual([]);
});

test("every sabotage names a promise and existing tests, and changes the product only", () => {
  expect(sabotages.length).toBeGreaterThanOrEqual(50);
  for (const { name, promise, tests, changed } of sabotages) {
    expect(promise, name).toMatch(/^[A-Z].*\.$/);
    expect(tests, name).not.toEqual([]);
    expect(
      tests.filter((path) => !path.endsWith(".test.ts") || !existsSync(root + path)),
      name,
    ).toEqual([]);
    expect(changed, name).not.toEqual([]);
    expect(
      changed.filter((path) => !path.startsWith("src/") || /\.(?:test|conformance)\.ts$/.test(path)),
      name,
    ).toEqual([]);
  }
});
