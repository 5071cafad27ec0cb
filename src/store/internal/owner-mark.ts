import { join } from "node:path";
import { codeOf } from "../../lib/error-code.ts";
import type { Machine } from "../../lib/machine.ts";
import type { InventoryStore } from "../inventory-store.ts";
import { CLOCK_STEP_MS, statOf } from "./directories.ts";
import { storeError } from "./faults.ts";

/** The change time of this file is the time at which the owner of the store was last known to be alive. */
export const ALIVE = ".nuthatch-alive";

/** Returns the methods by which the owner of a store in a directory records that it is alive. */
export function ownerMarkIn({
  disk,
  clock,
  root,
}: Pick<Machine, "disk" | "clock"> & { readonly root: string }): Pick<InventoryStore, "noteAlive" | "lastAliveMs"> {
  const path = join(root, ALIVE);
  return {
    async noteAlive() {
      const now = new Date(clock.now());
      try {
        await disk.utimes(path, now, now).catch((error: unknown) => {
          if (codeOf(error) !== "ENOENT") throw error;
          return disk.writeFile(path, "", { mode: 0o600 });
        });
      } catch (error) {
        throw storeError(error, "the store cannot be marked as in use");
      }
    },

    lastAliveMs() {
      const ms = statOf(disk, path, "the store cannot be read")?.ctimeMs;
      // A time in the future means that the clock was set back, so changes since then cannot be found by their times.
      return ms === undefined || ms > clock.now() + CLOCK_STEP_MS ? undefined : ms;
    },
  };
}
