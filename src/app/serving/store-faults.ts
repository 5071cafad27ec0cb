import { access, constants, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Configuration } from "../../configuration/configuration.ts";
import { codeOf } from "../../lib/error-code.ts";
import { fileFault } from "../../lib/file/file-fault.ts";
import { makeDirectory } from "../../lib/file/make-directory.ts";
import type { Machine } from "../../lib/machine.ts";
import type { Logger } from "../../lib/process/logger.ts";
import type { Random } from "../../lib/random/random.ts";
import { prepareStore, rootsFileIn } from "../../store/open-store.ts";
import { bucketOf, loadRemoteCode, type RemoteOptions } from "../../store/remote-kinds.ts";
import { directoryOf, isRemote, type StoreOptions } from "../../store/store-options.ts";
import { StoreError } from "../../store/tile-store.ts";

/** Makes the directory of a store. Returns why it cannot be used. Undefined if it can. */
export async function directoryFault(directory: string | undefined): Promise<string | undefined> {
  if (directory === undefined) return undefined;
  try {
    await makeDirectory(directory);
    await access(directory, constants.W_OK);
    return undefined;
  } catch (error) {
    return `baseDirectory: the directory ${directory} cannot be made, or written: ${fileFault(error)}`;
  }
}

/**
 * Makes the directories of stores. A store that cannot be used affects only its own layers, and is tried again later.
 */
export function prepareEach(
  { dataDir, stores }: Pick<Configuration, "dataDir" | "stores">,
  machine: Machine,
  log: Logger,
): void {
  for (const store of stores) {
    const fault = preparationFault(machine, store, dataDir);
    if (fault !== undefined) log.warn("a store cannot be used", { store: store.id, error: fault });
  }
}

/** Makes the directory of a store, if it has one. Returns why this has failed. Undefined if it succeeded. */
export function preparationFault(machine: Machine, store: StoreOptions, dataDir: string): string | undefined {
  try {
    prepareStore(machine, store, rootsFileIn(dataDir));
    return undefined;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return error.message;
  }
}

/** Returns why a bucket cannot be used. Undefined if it can. */
export async function bucketFault(machine: Machine, store: RemoteOptions): Promise<string | undefined> {
  const { createRemoteStore } = await import("../../store/remote/remote-store.ts");
  const open = bucketOf(store, machine, await loadRemoteCode([store]));
  const opened = createRemoteStore({ ...store, isOwner: false }, open, machine);
  try {
    const trouble = await opened.trouble();
    return trouble && `bucket: ${trouble.message}`;
  } finally {
    await opened[Symbol.asyncDispose]();
  }
}

/** The name of a mark in a directory. Names of temporary files continue after the UUID. */
const MARK = /^\.nuthatch-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Runs `work` while the directories of stores contain a file, by whose name other machines recognise the directories.
 * @throws Error if a directory cannot be written
 */
export async function withMarks<T>(
  stores: readonly StoreOptions[],
  random: Random,
  work: (mark: string) => Promise<T>,
): Promise<T> {
  const mark = `.nuthatch-${random.uuid()}`;
  const files = directoriesOf(stores).map((directory) => join(directory, mark));
  try {
    for (const file of files) await writeFile(file, "");
    return await work(mark);
  } finally {
    for (const file of files) await rm(file, { force: true });
  }
}

/** Removes the marks that a killed server has left in the directories of stores. */
export async function removeOldMarks(stores: readonly StoreOptions[]): Promise<void> {
  for (const directory of directoriesOf(stores)) {
    // If a directory is unavailable, a later server removes its marks.
    const names = await readdir(directory).catch(() => []);
    for (const name of names) if (MARK.test(name)) await rm(join(directory, name), { force: true });
  }
}

const directoriesOf = (stores: readonly StoreOptions[]): readonly string[] =>
  stores.flatMap((store) => directoryOf(store) ?? []);

/** Returns why this process cannot use stores that another machine has made. Undefined if it can. */
export async function sharedStoresFault(
  machine: Machine,
  stores: readonly StoreOptions[],
  mark: string,
): Promise<string | undefined> {
  for (const store of stores) {
    const fault = isRemote(store) ? await bucketFault(machine, store) : await markFault(store.path, mark);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

async function markFault(directory: string, mark: string): Promise<string | undefined> {
  try {
    await access(directory, constants.W_OK);
    await access(join(directory, mark));
    return undefined;
  } catch (error) {
    return codeOf(error) === "ENOENT"
      ? `baseDirectory: ${directory} is not the directory that the other nodes see: a cluster needs one that all share`
      : `baseDirectory: the directory ${directory} cannot be written: ${fileFault(error)}`;
  }
}
