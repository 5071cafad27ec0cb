import { once } from "node:events";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import PQueue from "p-queue";
import type { PasswordHash } from "./user.ts";

/** The code of a thread, as a string, so that it runs both from the sources and in the built program. */
const CODE = `
  const { parentPort, workerData } = require("node:worker_threads");
  const bcrypt = require(workerData);
  parentPort.on("message", ({ password, hash }) => parentPort.postMessage(bcrypt.compareSync(password, hash)));
`;
/** At most two threads. One core stays free for the main thread. */
const THREADS = Math.max(1, Math.min(2, availableParallelism() - 1));

/** `verify` decides whether a user may enter; `equalise` only takes time. Verifications come first. */
export type Purpose = "verify" | "equalise";
const PRIORITY: Readonly<Record<Purpose, number>> = { verify: 1, equalise: 0 };

const queue = new PQueue({ concurrency: THREADS });
const idle: Worker[] = [];

/**
 * Returns whether a password matches a bcrypt hash. Compares in worker threads: bcryptjs computes in JavaScript, and on
 * the main thread a hash of cost 12 would delay every tile by a third of a second. A thread starts when it is needed
 * and does not keep the process alive.
 * @throws if the thread died
 */
export const compareBcrypt = (password: string, hash: PasswordHash, purpose: Purpose): Promise<boolean> =>
  queue.add(() => compareInThread(password, hash), { priority: PRIORITY[purpose] });

async function compareInThread(password: string, hash: PasswordHash): Promise<boolean> {
  const worker = idle.pop() ?? startThread();
  worker.ref();
  worker.postMessage({ password, hash });
  // `once` rejects if the thread dies; the thread is then not used again.
  const [right]: boolean[] = await once(worker, "message");
  worker.unref();
  idle.push(worker);
  return right === true;
}

function startThread(): Worker {
  const workerData = createRequire(import.meta.url).resolve("bcryptjs");
  return new Worker(CODE, { eval: true, workerData });
}
