import { constants } from "node:fs";
import { codeOf } from "../../../lib/error-code.ts";
import type { Machine } from "../../../lib/machine.ts";
import type { Timer } from "../../../lib/time/clock.ts";
import { storeError } from "../../internal/faults.ts";
import { openRegular, regularAt } from "../../internal/regular-file.ts";

/** The most bundles that are open at the same time. */
const MOST_OPEN = 32;
/** An unused bundle is closed after at most twice this time in ms. Only then is the space of a removed bundle free. */
const IDLE_MS = 500;

interface OpenFile {
  readonly file: number;
  readonly inode: number;
  readonly device: number;
  isUsed: boolean;
}

/**
 * Reads tiles from bundles. Leaves bundles open for a while, because opening a bundle takes half of the time of a hit.
 * Checks before each read that the open bundle is still the bundle at its path, so that a truncated tile is never read.
 */
export class BundleReader {
  readonly #machine: Pick<Machine, "clock" | "disk">;
  readonly #open = new Map<string, OpenFile>();
  #timer: Timer | undefined;

  constructor(machine: Pick<Machine, "clock" | "disk">) {
    this.#machine = machine;
  }

  /** Reads from a bundle. Undefined if the bundle does not exist. @throws StoreError */
  read<T>(path: string, work: (file: number) => T): T | undefined {
    const what = "a tile cannot be read";
    const status = regularAt(this.#machine.disk, path, what);
    const known = this.#open.get(path);
    // The inode of an open file is not reused for another file.
    const isSame = known !== undefined && known.inode === status?.ino && known.device === status.dev;
    if (known !== undefined && !isSame) this.#close(path, known);
    if (status === undefined) return undefined;
    try {
      const opened = known !== undefined && isSame ? known : this.#openFile(path);
      if (opened === undefined) return undefined;
      opened.isUsed = true;
      return work(opened.file);
    } catch (error) {
      throw storeError(error, what);
    }
  }

  #openFile(path: string): OpenFile | undefined {
    const [oldest] = this.#open;
    if (oldest !== undefined && this.#open.size >= MOST_OPEN) this.#close(...oldest);
    const found = openRegular(this.#machine.disk, path, constants.O_RDONLY);
    if (found === undefined) return undefined;
    const { ino: inode, dev: device } = found.status;
    const opened = { file: found.file, inode, device, isUsed: true };
    this.#open.set(path, opened);
    this.#timer ??= this.#machine.clock.every(IDLE_MS, () => this.#closeUnused()).unref();
    return opened;
  }

  #closeUnused(): void {
    for (const [path, opened] of this.#open) {
      if (!opened.isUsed) this.#close(path, opened);
      opened.isUsed = false;
    }
    if (this.#open.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #close(path: string, { file }: OpenFile): void {
    this.#open.delete(path);
    try {
      this.#machine.disk.closeSync(file);
    } catch (error) {
      // An error of the disk loses nothing: the file was only read, and Linux frees the descriptor in any case (close(2)).
      if (codeOf(error) === "EBADF") throw error;
    }
  }

  /** Closes all bundles. */
  close(): void {
    for (const [path, opened] of this.#open) this.#close(path, opened);
    this.#closeUnused();
  }
}
