import { type Stats, statSync } from "node:fs";
import { access, constants, stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf } from "../lib/error-code.ts";

/** A file system that does not answer for this time counts as lost. A caller of `look` waits no longer. */
const LONGEST_WAIT_MS = 2_000;

/**
 * Checks whether a file or a directory is the same as at the start, and can be written. A directory may have been
 * created again on the same file system. A directory on another file system means that its volume is not mounted.
 */
export class DirectoryProbe {
  readonly #path: string;
  readonly #name: string;
  readonly #first: Stats;
  #looking: Promise<string | undefined> | undefined;

  /**
   * `name`: such as "the store".
   * @throws Error when the file or directory does not exist
   */
  constructor(path: string, name: string) {
    this.#path = path;
    this.#name = name;
    this.#first = statSync(path);
  }

  /**
   * Returns why the file or directory cannot be used; undefined: it can. Only one request to the file system runs at a
   * time.
   */
  async look(): Promise<string | undefined> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    const waited = new AbortController();
    const late = sleep(LONGEST_WAIT_MS, "late", { signal: waited.signal, ref: false }).catch(() => "late");
    try {
      const found = await Promise.race([this.#looking, late]);
      return found === "late" ? `${this.#what}: the file system does not answer` : found;
    } finally {
      waited.abort();
    }
  }

  get #what(): string {
    return `${this.#name} (${this.#path}) is lost`;
  }

  async #look(): Promise<string | undefined> {
    try {
      const now = await stat(this.#path);
      const isSame = now.dev === this.#first.dev && (now.isDirectory() || now.ino === this.#first.ino);
      if (!isSame || now.isDirectory() !== this.#first.isDirectory())
        return `${this.#what}: another one is in its place since the start; put it back, or restart the server`;
      await access(this.#path, constants.R_OK | constants.W_OK | (now.isDirectory() ? constants.X_OK : 0));
      return undefined;
    } catch (error) {
      return `${this.#what}: ${codeOf(error) || String(error)}`;
    }
  }
}
