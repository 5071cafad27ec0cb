import { expect, test } from "vitest";
import { map } from "./document-node.ts";
import { storeFault } from "./store-object.ts";

test.each([
  ["private", undefined],
  ["PUBLIC", undefined],
  ["all", 'access: expected PUBLIC or PRIVATE, got "all"'],
])("GeoWebCache starts on the file with an S3 store that is taken: access %s", (access, fault) => {
  const node = map([
    ["id", "s"],
    ["enabled", false],
    ["bucket", "b"],
    ["access", access],
  ]);
  expect(storeFault({ root: "S3BlobStore", node })).toBe(fault);
});
