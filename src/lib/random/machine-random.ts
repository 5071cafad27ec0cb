import { randomBytes, randomInt, randomUUID } from "node:crypto";
import type { Random } from "./random.ts";

/** The random numbers of the machine. `fraction` is fast and can be guessed; the others cannot. */
export const machineRandom: Random = {
  fraction: () => Math.random(),
  below: (end) => randomInt(end),
  bytes: (count) => randomBytes(count),
  uuid: () => randomUUID(),
};
