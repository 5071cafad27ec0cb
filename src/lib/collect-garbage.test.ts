import { expect, test } from "vitest";
import { collectGarbage } from "./collect-garbage.ts";

test("what nobody holds any more is gone", async () => {
  const left = new WeakRef({ nobody: "holds this" });
  // What was looked at in a turn is held until its end.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  expect(left.deref()).toBeUndefined();
});
