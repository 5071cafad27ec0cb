import { constants } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../../lib/error-code.ts";
import type { Machine } from "../../lib/machine.ts";
import type { Timer } from "../../lib/time/clock.ts";
import { LATE, unlessLate } from "../../lib/time/late.ts";
import { StoreError } from "../tile-store.ts";
import { MARKS } from "./store-root.ts";

/** A file system that does not answer within this time counts as hanging. Callers wait at most this long. */
const LONGEST_WAIT_MS = 2_000;
const LOOK_MS = 1_000;

const SILENT = "the file system does not answer";
/** The reason if something else, such as the mount point of a volume, has the name of the directory. */
export const REPLACED = "another file is in its place since the start; put the original back, or restart the server";

export interface FileProbeParts {
  readonly machine: Pick<Machine, "disk" | "clock">;
  readonly root: string;
  /** The name of the store in messages, such as `the store "two"`. */
  readonly name: string;
  /** Whether this process writes to the store. A process that only reads can continue while only writes hang. */
  readonly writes: boolean;
}

/**
 * Checks, in a thread of Node's pool, whether the file system of a store answers. One check runs at a time, so that a
 * file system that hangs occupies one thread.
 */
export class FileProbe {
  readonly #parts: FileProbeParts;
  /** The beginning of each message about the unavailable store. */
  readonly lost: string;
  #looking: Promise<string | undefined> | undefined;
  #timer: Timer | undefined;
  #isHanging = false;
  /**
   * Whether a check has found a file that identifies the store. If so, a directory without this file is a different
   * directory.
   */
  #hadMark = false;
  /** Called with the reason when the file system stops answering, and with undefined when it answers again. */
  changed: (reason: string | undefined) => void = () => {};

  constructor(parts: FileProbeParts) {
    this.#parts = parts;
    this.lost = `${parts.name} (${parts.root}) is lost`;
  }

  /** Checks the store every second from now on. */
  watch(): this {
    this.#timer ??= this.#parts.machine.clock.every(LOOK_MS, () => void this.look()).unref();
    return this;
  }

  end(): void {
    this.#timer?.cancel();
  }

  /**
   * Checks the directory. Returns why it cannot be used; undefined if it can be read (and written, if this process
   * writes).
   */
  async look(): Promise<string | undefined> {
    this.#looking ??= this.#ask().finally(() => {
      this.#looking = undefined;
      this.#set(false);
    });
    const found = await unlessLate(this.#parts.machine.clock, this.#looking, LONGEST_WAIT_MS);
    if (found !== LATE) return found;
    this.#set(true);
    return `${this.lost}: ${SILENT}`;
  }

  /** Returns the result of a call of the file system. @throws StoreError when the call does not return in time */
  async inTime<T>(answer: Promise<T>): Promise<T> {
    const found = await unlessLate(this.#parts.machine.clock, answer, LONGEST_WAIT_MS);
    if (found !== LATE) return found;
    // The next check that is answered ends this state.
    this.#set(true);
    void this.look();
    throw new StoreError("unavailable", `${this.lost}: ${SILENT}`, undefined);
  }

  #set(isHanging: boolean): void {
    if (this.#isHanging === isHanging) return;
    this.#isHanging = isHanging;
    this.changed(isHanging ? SILENT : undefined);
  }

  async #ask(): Promise<string | undefined> {
    const { root, writes, machine } = this.#parts;
    const { disk } = machine;
    try {
      if (!(await disk.stat(root)).isDirectory()) return `${this.lost}: ${REPLACED}`;
      await disk.access(root, constants.R_OK | constants.X_OK | (writes ? constants.W_OK : 0));
      const hasMark = await this.#touch();
      if (this.#hadMark && !hasMark) return `${this.lost}: ${REPLACED}`;
      this.#hadMark = hasMark;
      return undefined;
    } catch (error) {
      return `${this.lost}: ${codeOf(error) || String(error)}`;
    }
  }

  /**
   * Reads a file that identifies the store, and sets the file's time, because the attributes of a directory may come
   * from a cache. Returns whether the directory contains such a file.
   */
  async #touch(): Promise<boolean> {
    const { root, writes, machine } = this.#parts;
    const { disk, clock } = machine;
    for (const name of MARKS) {
      const path = join(root, name);
      const file = await disk.open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: unknown) => {
        if (codeOf(error) === "ENOENT") return undefined;
        throw error;
      });
      if (file === undefined) continue;
      await file.close();
      // Only the first file's time has no meaning and may be set.
      if (writes && name === MARKS[0]) await disk.utimes(path, new Date(clock.now()), new Date(clock.now()));
      return true;
    }
    return false;
  }
}
