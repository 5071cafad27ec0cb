import type { machineDisk } from "./machine-disk.ts";

/**
 * The file operations of the modules that keep tiles and state, as Node has them. The machine's implementation is
 * `machineDisk`; a test or a simulation replaces single operations, such as by ones that fail.
 */
export type Disk = Readonly<typeof machineDisk>;
