import { expect, test } from "vitest";
import { walk } from "../soak/walk.ts";

test("no answer of a random walk contradicts what was acknowledged (the long form is npm run soak)", async () => {
  const seed = process.env["NUTHATCH_GATE"] === "1" ? 7 : Date.now() % 2 ** 31;
  const told: string[] = [];
  console.log(`history: seed ${seed}`);
  await walk({ steps: 200, seed, tell: (line) => told.push(line) });
  for (const line of told) console.log(line);
  expect(told.at(-1)).toMatch(/^step 200/);
});
