import type { Worker } from "node:worker_threads";

/** The threads that work, or were asked to end and have not. */
const busy = new Set<Worker>();

/** Records that a thread works, until `rests` or its end. */
export function works(thread: Worker): void {
  busy.add(thread);
  thread.once("exit", () => busy.delete(thread));
}

export const rests = (thread: Worker): void => void busy.delete(thread);

/**
 * Whether the end of this process would have to wait for a thread. Node can end a thread between two steps of JavaScript
 * only, not while it waits in a library or for a file system.
 */
export const mayWaitForThread = (): boolean => busy.size > 0;
