import { thisMachine } from "../../../src/lib/this-machine.ts";

/** Returns the options of a store in a directory of this machine, for tests. */
export const inDirectory = (root: string) => ({ machine: thisMachine, root, fsync: false, instance: "test" });
