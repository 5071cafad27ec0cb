import { machineDisk } from "../../../src/lib/file/machine-disk.ts";
import type { Machine } from "../../../src/lib/machine.ts";
import { thisMachine } from "../../../src/lib/this-machine.ts";

/** An operation of a disk, by its name in Node. */
export type DiskOperation = keyof typeof machineDisk;
type Hook = (operation: DiskOperation, args: readonly unknown[]) => void;

/** A machine whose disk a test watches. The error that a hook throws is the error of the operation. */
export class FaultyDisk {
  /** Called before each operation. */
  before: Hook = () => {};
  /** Called after each operation that has succeeded. */
  after: Hook = () => {};
  readonly machine: Machine = {
    ...thisMachine,
    disk: new Proxy(machineDisk, {
      get: (disk, name: DiskOperation) => {
        const operation: unknown = disk[name];
        if (typeof operation !== "function") return operation;
        return (...args: readonly unknown[]) =>
          name.endsWith("Sync")
            ? this.#run(name, args, () => Reflect.apply(operation, undefined, args))
            : this.#runLater(name, args, () => Reflect.apply(operation, undefined, args));
      },
    }),
  };

  #run(name: DiskOperation, args: readonly unknown[], operation: () => unknown): unknown {
    this.before(name, args);
    const result = operation();
    this.after(name, args);
    return result;
  }

  async #runLater(name: DiskOperation, args: readonly unknown[], operation: () => unknown): Promise<unknown> {
    this.before(name, args);
    const result = await operation();
    this.after(name, args);
    return result;
  }

  /** Lets operations fail with an error code of the system until `end`. */
  fail(names: readonly DiskOperation[], code: string): { end(): void } {
    this.before = (name) => {
      if (names.includes(name)) throw diskError(code);
    };
    return {
      end: () => {
        this.before = () => {};
      },
    };
  }

  /**
   * Lets one operation fail with an error code of the system, until `end`: the operation after `n` others.
   * `existsSync` has no errors. A file is closed even if the system reports an error of closing it.
   */
  failNth(n: number, code: string): { end(): void } {
    let left = n;
    const failLast = (): void => {
      if (left-- === 0) throw diskError(code);
    };
    this.before = (name) => {
      if (name !== "existsSync" && name !== "closeSync") failLast();
    };
    this.after = (name) => {
      if (name === "closeSync") failLast();
    };
    return {
      end: () => {
        this.before = () => {};
        this.after = () => {};
      },
    };
  }
}

/** Returns an error as Node throws it for an operation that the system refuses. */
export const diskError = (code: string): Error => Object.assign(new Error(`${code}: injected`), { code });
