import { dirname, join } from "node:path";
import { codeOf } from "../../lib/error-code.ts";
import type { Disk } from "../../lib/file/disk.ts";
import { fileFault } from "../../lib/file/file-fault.ts";
import type { Machine } from "../../lib/machine.ts";
import { StoreError } from "../tile-store.ts";

/** The file in a store's directory that contains the identity of the store. */
const MARK = ".nuthatch-store";
/** The marker of GeoWebCache's file stores. */
export const GEOWEBCACHE_MARK = "metadata.properties";
/** The files that identify a directory as the directory of a store. */
export const MARKS = [MARK, GEOWEBCACHE_MARK];

const hasMark = (disk: Disk, root: string): boolean => MARKS.some((name) => disk.existsSync(join(root, name)));

/** Returns the identity of the store in a directory. Undefined if the store has no identity. */
export function identityOf(disk: Disk, root: string): string | undefined {
  try {
    return disk.readFileSync(join(root, MARK), "utf8").trim() || undefined;
  } catch {
    // GeoWebCache has created the store, or the directory is unavailable; the caller detects that.
    return undefined;
  }
}

/**
 * Checks that a directory contains a store. The mount point of a volume that is not mounted is an empty directory: a
 * tile stored there would be lost.
 * @throws StoreError
 */
export function expectStoreIn(disk: Disk, root: string): void {
  try {
    if (!disk.statSync(root).isDirectory()) throw away(`${root} is no directory`);
  } catch (error) {
    if (error instanceof StoreError) throw error;
    throw away(`${root}: ${fileFault(error)}`, error);
  }
  if (!hasMark(disk, root)) throw away(`the directory ${root} has no store: its volume may not be mounted`);
}

/** The directories in which this installation has had stores, with the device of each. */
export class KnownRoots {
  readonly #disk: Disk;
  readonly #file: string;

  /** @param file a file of the data directory */
  constructor(disk: Disk, file: string) {
    this.#disk = disk;
    this.#file = file;
  }

  /** Returns the device of a directory. Undefined if the directory has not had a store. */
  deviceOf(root: string): number | undefined {
    const device = this.#read()[root];
    return typeof device === "number" ? device : undefined;
  }

  note(root: string, device: number): void {
    const all = this.#read();
    if (all[root] === device) return;
    this.#disk.mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
    this.#disk.writeFileSync(`${this.#file}.new`, JSON.stringify({ ...all, [root]: device }), { mode: 0o600 });
    this.#disk.renameSync(`${this.#file}.new`, this.#file);
  }

  #read(): Readonly<Record<string, unknown>> {
    try {
      const parsed: unknown = JSON.parse(this.#disk.readFileSync(this.#file, "utf8"));
      return typeof parsed === "object" && parsed !== null ? { ...parsed } : {};
    } catch (error) {
      if (codeOf(error) === "ENOENT" || error instanceof SyntaxError) return {};
      throw error;
    }
  }
}

/**
 * Creates the directory of a store, or finds the store in it. If the directory contained a store before and now
 * contains none, leaves it unchanged, because its volume may not be mounted.
 * @throws StoreError
 */
export function prepareRoot(
  machine: Pick<Machine, "disk" | "random">,
  root: string,
  known: KnownRoots | undefined,
): void {
  const { disk } = machine;
  try {
    const before = known?.deviceOf(root);
    if (before !== undefined && disk.statSync(root, { throwIfNoEntry: false }) === undefined)
      throw away(
        `the directory ${root} had the store and is missing: mount its volume, or make the directory if its tiles were removed on purpose`,
      );
    disk.mkdirSync(root, { recursive: true });
    const { dev } = disk.statSync(root);
    const isThere = hasMark(disk, root);
    if (!isThere && before !== undefined && before !== dev)
      throw away(
        `the directory ${root} had the store and is on another file system now: mount its volume, or make the file ${MARK} in it if the store is to begin there without tiles`,
      );
    if (identityOf(disk, root) === undefined) writeMark(machine, root, isThere);
    known?.note(root, dev);
  } catch (error) {
    if (error instanceof StoreError) throw error;
    throw away(`${root}: ${fileFault(error)}`, error);
  }
}

/**
 * Gives the store an identity. A full or read-only store can be read without an identity, so these failures are
 * ignored.
 */
function writeMark({ disk, random }: Pick<Machine, "disk" | "random">, root: string, isThere: boolean): void {
  try {
    disk.writeFileSync(join(root, MARK), `${random.uuid()}\n`, { mode: 0o600 });
  } catch (error) {
    if (!isThere) throw error;
  }
}

const away = (message: string, cause?: unknown): StoreError => new StoreError("unavailable", message, cause);
