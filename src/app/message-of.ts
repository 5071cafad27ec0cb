import type { Worker } from "node:worker_threads";

/**
 * Returns the one message of a thread, and ends the thread. The thread does not keep a server from closing. The caller
 * knows what its thread sends.
 */
export function messageOf<T>(worker: Worker): Promise<T> {
  worker.unref();
  return new Promise<T>((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", (code) => reject(new Error(`a thread has ended with ${code}`)));
  }).finally(() => worker.terminate());
}
