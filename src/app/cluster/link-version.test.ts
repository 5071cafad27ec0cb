import { expect, test } from "vitest";
import { commonVersion, type KnownVersions } from "./link-version.ts";

const lead: KnownVersions = { version: 5, oldest: 4, program: "2.1.0" };

test.each([
  ["its own version", { version: 5, oldest: 4, program: "2.1.0" }, 5],
  ["the version before", { version: 4, oldest: 3, program: "2.0.0" }, 4],
  ["the version after", { version: 6, oldest: 5, program: "2.2.0" }, 5],
] as const)("nodes use the newest version that both know: %s", (_, node, common) => {
  expect(commonVersion(node, lead)).toBe(common);
});

test.each([
  [{ version: 3, oldest: 2, program: "1.9.0" }, "3 (Nuthatch 1.9.0)"],
  [{ version: 7, oldest: 6, program: "3.0.0" }, "7 (Nuthatch 3.0.0)"],
])("a node without a common version is refused, and both are named", (node, named) => {
  expect(commonVersion(node, lead)).toBe(
    `its messages have version ${named}, and those of the lead version 5 (Nuthatch 2.1.0): only neighbours work together`,
  );
});
