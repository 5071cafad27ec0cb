import type { Disk } from "./file/disk.ts";
import type { Random } from "./random/random.ts";
import type { Clock } from "./time/clock.ts";

/** The seams of one process to its machine, for parts that need several of them. A part that needs one takes that one. */
export interface Machine {
  readonly clock: Clock;
  readonly disk: Disk;
  readonly random: Random;
}
