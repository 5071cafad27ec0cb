import { expect, test } from "vitest";
import { walk } from "../../soak/walk.ts";
import { testSeed } from "../../support/test-seed.ts";

test("no answer of a random walk contradicts what was acknowledged (the long form is npm run soak)", async () => {
  const reported: string[] = [];
  await walk({ steps: 200, seed: testSeed(), tell: (line) => reported.push(line) });
  for (const line of reported) console.log(line);
  expect(reported.at(-1)).toMatch(/^step 200/);
});
