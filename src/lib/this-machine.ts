import { machineDisk } from "./file/machine-disk.ts";
import type { Machine } from "./machine.ts";
import { machineRandom } from "./random/machine-random.ts";
import { machineClock } from "./time/machine-clock.ts";

/** The machine of this process. */
export const thisMachine: Machine = { clock: machineClock, disk: machineDisk, random: machineRandom };
