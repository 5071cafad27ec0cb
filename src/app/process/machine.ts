import type { Disk } from "../../lib/file/disk.ts";
import type { Random } from "../../lib/random/random.ts";
import type { Clock } from "../../lib/time/clock.ts";

/** The machine as the parts of a process see it. Entry files pass the real one. */
export interface Machine {
  readonly clock: Clock;
  readonly random: Random;
  readonly disk: Disk;
}
