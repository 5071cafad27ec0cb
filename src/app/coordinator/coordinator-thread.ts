import { readFileSync } from "node:fs";
import { parentPort } from "node:worker_threads";
import { thisMachine } from "../../lib/this-machine.ts";
import { claimPostgres, claimState } from "./claimed-state.ts";
import type { CoordinatorData, CoordinatorSelf } from "./coordinator-host.ts";
import { startCoordinator } from "./start-coordinator.ts";

/** Returns Linux's id of this boot. */
function bootId(): string | undefined {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return undefined;
  }
}

const self: CoordinatorSelf = {
  machine: thisMachine,
  bootId,
  claimEmbedded: claimState,
  claimPostgres,
  exit: () => process.exit(1),
};

// The thread loads its code before the configuration is known. The first message has the data. The channel starts to
// listen in the same turn, so it receives all later messages.
parentPort?.once("message", (data: CoordinatorData) => {
  if (parentPort !== null) startCoordinator(parentPort, data, self);
});
