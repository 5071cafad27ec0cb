import { expect, test } from "vitest";
import { liveRandomly } from "../soak/random-life.ts";

test("a life with kills: usage equals what the store holds after each (the long form is npm run soak)", async () => {
  const seed = process.env["NUTHATCH_GATE"] === "1" ? 7 : Date.now() % 2 ** 31;
  const told: string[] = [];
  await liveRandomly({ kills: 3, tiles: 1_200, seed, tell: (line) => told.push(line) }).catch((error: unknown) => {
    throw new Error(`seed ${seed}\n${told.join("\n")}`, { cause: error });
  });
  expect(told).toHaveLength(4);
});
