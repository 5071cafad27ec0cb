import { expect, test } from "vitest";
import { walk } from "../soak/walk.ts";
import { testSeed } from "../support/test-seed.ts";

test("no answer of a random walk contradicts what was acknowledged (the long form is npm run soak)", async () => {
  const told: string[] = [];
  await walk({ steps: 200, seed: testSeed(), tell: (line) => told.push(line) });
  for (const line of told) console.log(line);
  expect(told.at(-1)).toMatch(/^step 200/);
});
