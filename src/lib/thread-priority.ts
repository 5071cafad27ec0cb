import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";

/** As `nice`: a thread that has this runs when the others of its processor have nothing to do, or a third as long as they. */
const NICE = 5;

/**
 * Lets other threads of the process go first: on Linux priorities are per thread. Elsewhere nothing happens, and all
 * threads share alike.
 */
export function giveWay(): void {
  try {
    const thread = /\d+$/.exec(readlinkSync("/proc/thread-self"))?.[0];
    if (thread !== undefined) setPriority(Number(thread), NICE);
  } catch {
    return;
  }
}
