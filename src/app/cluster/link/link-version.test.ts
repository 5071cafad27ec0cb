import { expect, test } from "vitest";
import { type LinkVersion, otherVersion } from "./link-version.ts";

const lead: LinkVersion = { version: 5, program: "2.1.0" };

test("a node with the version of the lead joins, whatever its program", () => {
  expect(otherVersion({ version: 5, program: "2.1.3" }, lead)).toBeUndefined();
});

test.each([
  [{ version: 4, program: "1.9.0" }, "4 (Nuthatch 1.9.0)", "install Nuthatch 2.1.0 for this node"],
  [{ version: 6, program: "3.0.0" }, "6 (Nuthatch 3.0.0)", "stop the other nodes, and install Nuthatch 3.0.0 for them"],
])("a node with another version is refused with both versions and what to update", (node, named, remedy) => {
  expect(otherVersion(node, lead)).toBe(
    `its messages have version ${named}, and those of the lead version 5 (Nuthatch 2.1.0), but all nodes of a cluster need the same: ${remedy}`,
  );
});
