import type * as files from "node:fs";
import type * as promises from "node:fs/promises";

/**
 * The file operations of the modules that keep tiles and state, as Node has them. The machine's implementation is
 * `machineDisk`; a test or a simulation replaces single operations, such as by ones that fail.
 */
export type Disk = Pick<
  typeof files,
  | "chmodSync"
  | "closeSync"
  | "existsSync"
  | "fstatSync"
  | "fsyncSync"
  | "mkdirSync"
  | "openSync"
  | "readFileSync"
  | "readSync"
  | "readdirSync"
  | "rmSync"
  | "statSync"
  | "statfsSync"
  | "writeFileSync"
  | "writeSync"
> &
  Pick<
    typeof promises,
    "mkdir" | "mkdtemp" | "open" | "realpath" | "rename" | "rm" | "statfs" | "unlink" | "writeFile"
  >;
