import { expect, test } from "vitest";
import { liveThroughKills } from "../../soak/jobs-life.ts";
import { testSeed } from "../../support/test-seed.ts";

test("jobs of all kinds keep what they have reported through kills at random moments (the long form is npm run soak:jobs)", async () => {
  const seed = testSeed();
  const { problems, ...figures } = await liveThroughKills({ kills: 8, seed, tell: () => undefined });
  expect(problems, `seed ${seed}`).toEqual([]);
  expect(figures.jobs).toBeGreaterThan(15);
});
