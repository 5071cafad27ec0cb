import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

test("the gate runs every test file", () => {
  const listed = execFileSync(process.execPath, ["node_modules/vitest/vitest.mjs", "list", "--filesOnly", "--json"], {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, NUTHATCH_GATE: "1" },
  });
  const inTheGate: { file: string }[] = JSON.parse(listed.slice(listed.indexOf("[\n")));
  const there = ["src", "ui", "test"].flatMap((folder) =>
    readdirSync(`${root}${folder}`, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".test.ts"))
      .map((file) => `${folder}/${file}`),
  );
  const found = new Set(inTheGate.map(({ file }) => relative(root, file)));
  expect([...found].toSorted()).toEqual(there.toSorted());
});
