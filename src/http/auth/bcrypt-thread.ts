import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";

/** Runs in the thread. It is given as text, so that it is the same from sources and from the built program. */
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
 * Compares bcrypt hashes in a thread of its own, one after the other: bcryptjs computes in JavaScript, and a hash of cost
 * 12 would hold every hit for a third of a second. The thread starts with the first comparison, and holds no process.
 */
class BcryptThread {
  #worker: Worker | undefined;
  #lastId = 0;
  readonly #waiting = new Map<number, Waiting>();

  /** @throws when the thread died */
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
/** Whether a password fits a bcrypt hash. @throws when the thread for bcrypt died */
export const compareBcrypt = (password: string, hash: string): Promise<boolean> => thread.compare(password, hash);
