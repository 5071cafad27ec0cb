import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { codeOf } from "../../lib/error-code.ts";
import { fileFault } from "../../lib/file/file-fault.ts";
import { StoreError } from "../tile-store.ts";

/** The file in the directory of a store that has the identity of the store. */
const MARK = ".nuthatch-store";
/** The marker of GeoWebCache's file stores. */
export const GEOWEBCACHE_MARK = "metadata.properties";
/** Files by which a process recognises a store in a directory. */
export const MARKS = [MARK, GEOWEBCACHE_MARK];

const hasMark = (root: string): boolean => MARKS.some((name) => existsSync(join(root, name)));

/** Returns the identity of the store in a directory; undefined: the store has none. */
export function identityOf(root: string): string | undefined {
  try {
    return readFileSync(join(root, MARK), "utf8").trim() || undefined;
  } catch {
    // GeoWebCache has made the store, or the directory is away, which the caller finds out.
    return undefined;
  }
}

/**
 * Checks that a store was made in a directory. The mount point of a volume that is not mounted is an empty directory: a
 * tile that is stored there would be lost.
 * @throws StoreError
 */
export function expectStoreIn(root: string): void {
  try {
    if (!statSync(root).isDirectory()) throw away(`${root} is no directory`);
  } catch (error) {
    if (error instanceof StoreError) throw error;
    throw away(`${root}: ${fileFault(error)}`, error);
  }
  if (!hasMark(root)) throw away(`the directory ${root} has no store: its volume may not be mounted`);
}

/** The directories in which this installation has had stores, with the devices that they were on. */
export class KnownRoots {
  readonly #file: string;

  /** `file`: a file of the data directory. */
  constructor(file: string) {
    this.#file = file;
  }

  /** Returns the device of a directory; undefined: there was no store. */
  deviceOf(root: string): number | undefined {
    const device = this.#read()[root];
    return typeof device === "number" ? device : undefined;
  }

  note(root: string, device: number): void {
    const all = this.#read();
    if (all[root] === device) return;
    mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
    writeFileSync(`${this.#file}.new`, JSON.stringify({ ...all, [root]: device }), { mode: 0o600 });
    renameSync(`${this.#file}.new`, this.#file);
  }

  #read(): Readonly<Record<string, unknown>> {
    try {
      const parsed: unknown = JSON.parse(readFileSync(this.#file, "utf8"));
      return typeof parsed === "object" && parsed !== null ? { ...parsed } : {};
    } catch (error) {
      if (codeOf(error) === "ENOENT" || error instanceof SyntaxError) return {};
      throw error;
    }
  }
}

/**
 * Makes the directory of a store, or finds the store there. A directory that had the store before, and has none now, is
 * left alone: its volume may not be mounted.
 * @throws StoreError
 */
export function prepareRoot(root: string, known: KnownRoots | undefined): void {
  try {
    const before = known?.deviceOf(root);
    if (before !== undefined && statSync(root, { throwIfNoEntry: false }) === undefined)
      throw away(
        `the directory ${root} had the store and is missing: mount its volume, or make the directory if its tiles were removed on purpose`,
      );
    mkdirSync(root, { recursive: true });
    const { dev } = statSync(root);
    const isThere = hasMark(root);
    if (!isThere && before !== undefined && before !== dev)
      throw away(
        `the directory ${root} had the store and is on another file system now: mount its volume, or make the file ${MARK} in it if the store is to begin there without tiles`,
      );
    if (identityOf(root) === undefined) writeMark(root, isThere);
    known?.note(root, dev);
  } catch (error) {
    if (error instanceof StoreError) throw error;
    throw away(`${root}: ${fileFault(error)}`, error);
  }
}

/** Gives the store an identity. A store that is full, or read-only now, can be read without one. */
function writeMark(root: string, isThere: boolean): void {
  try {
    writeFileSync(join(root, MARK), `${randomUUID()}\n`, { mode: 0o600 });
  } catch (error) {
    if (!isThere) throw error;
  }
}

const away = (message: string, cause?: unknown): StoreError => new StoreError("unavailable", message, cause);
