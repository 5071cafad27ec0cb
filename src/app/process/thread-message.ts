import { once } from "node:events";
import type { Worker } from "node:worker_threads";

/**
 * Returns the next message of a thread. The caller knows the type of the message.
 * @throws the error of the thread; Error if the thread ends without a message
 */
export async function nextMessage<T>(worker: Worker): Promise<T> {
  const received = new AbortController();
  const { signal } = received;
  try {
    // Rejects with the thread's error if the thread fails.
    const messages = once(worker, "message", { signal });
    const ended = once(worker, "exit", { signal }).then(([code]) => {
      throw new Error(`a thread has ended with ${String(code)}`);
    });
    const [message] = await Promise.race([messages, ended]);
    return message;
  } finally {
    received.abort();
  }
}
