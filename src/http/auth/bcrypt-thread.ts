import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";

/** The code of the thread. It is a string, so that it works both from the sources and in the built program. */
const CODE = `
  const { parentPort, workerData } = require("node:worker_threads");
  const bcrypt = require(workerData);
  parentPort.on("message", ({ id, password, hash }) =>
    parentPort.postMessage({ id, right: bcrypt.compareSync(password, hash) }),
  );
`;

interface Waiting {
  readonly resolve: (right: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Compares bcrypt hashes in a worker thread, one after the other. bcryptjs computes in JavaScript: on the main thread,
 * a hash of cost 12 would delay every tile by a third of a second. The thread starts with the first comparison and does
 * not keep the process alive.
 */
class BcryptThread {
  #worker: Worker | undefined;
  #lastId = 0;
  readonly #waiting = new Map<number, Waiting>();

  /** @throws if the thread died */
  compare(password: string, hash: string): Promise<boolean> {
    const worker = this.#started();
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.ref();
      worker.postMessage({ id, password, hash });
    });
  }

  #started(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const workerData = createRequire(import.meta.url).resolve("bcryptjs");
    const worker = new Worker(CODE, { eval: true, workerData });
    worker.on("message", ({ id, right }: { readonly id: number; readonly right: boolean }) => {
      this.#waiting.get(id)?.resolve(right);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) worker.unref();
    });
    const died = (error: unknown): void => {
      if (this.#worker === worker) this.#worker = undefined;
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
    };
    worker.once("error", died);
    worker.once("exit", (code) => died(new Error(`the thread for bcrypt ended with ${code}`)));
    this.#worker = worker;
    return worker;
  }
}

const thread = new BcryptThread();
/**
 * Returns whether a password matches a bcrypt hash.
 * @throws if the bcrypt thread died
 */
export const compareBcrypt = (password: string, hash: string): Promise<boolean> => thread.compare(password, hash);
