import { expect, test } from "vitest";
import { collectGarbage } from "./collect-garbage.ts";

test("an object without references is collected", async () => {
  const left = new WeakRef({ nobody: "holds this" });
  // A WeakRef that was dereferenced keeps its target alive until the end of the turn.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  expect(left.deref()).toBeUndefined();
});
