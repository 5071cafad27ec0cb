/** A thread, which reports its end. */
interface Thread {
  once(event: "exit", listener: () => void): unknown;
}

/** The threads that are working, or have not ended yet after a request to end. */
const busy = new Set<Thread>();

/** Records that a thread is working, until `rests` or its end. */
export function works(thread: Thread): void {
  busy.add(thread);
  thread.once("exit", () => busy.delete(thread));
}

export const rests = (thread: Thread): void => void busy.delete(thread);

/**
 * Whether the end of this process might have to wait for a thread. Node can end a thread only between two steps of
 * JavaScript, not while it waits in a library or for a file system.
 */
export const mayWaitForThread = (): boolean => busy.size > 0;
