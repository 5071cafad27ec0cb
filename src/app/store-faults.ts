import { randomUUID } from "node:crypto";
import { access, constants, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "../lib/error-code.ts";
import { fileFault } from "../lib/file-fault.ts";
import { makeDirectory } from "../lib/make-directory.ts";
import { directoryOf, type S3StoreConfiguration, type StoreOptions } from "../store/store-options.ts";

/** Returns why the directory of a store cannot be used; undefined: it can. The directory is made. */
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

/** Returns why a bucket cannot be used; undefined: it can. */
export async function bucketFault(store: S3StoreConfiguration): Promise<string | undefined> {
  const { createS3Store } = await import("../store/s3/s3-store.ts");
  const opened = createS3Store({ ...store, isOwner: false });
  try {
    const trouble = await opened.trouble();
    return trouble && `bucket: ${trouble.message}`;
  } finally {
    await opened[Symbol.asyncDispose]();
  }
}

/** The name of a mark in a directory. Names of temporary files go on after the UUID. */
const MARK = /^\.nuthatch-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Runs `work` while the directories of stores have a file of a name, by which other machines recognise them.
 * @throws Error when a directory cannot be written
 */
export async function withMarks<T>(stores: readonly StoreOptions[], work: (mark: string) => Promise<T>): Promise<T> {
  const mark = `.nuthatch-${randomUUID()}`;
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
  for (const directory of directoriesOf(stores))
    for (const name of await readdir(directory)) if (MARK.test(name)) await rm(join(directory, name), { force: true });
}

const directoriesOf = (stores: readonly StoreOptions[]): readonly string[] =>
  stores.flatMap((store) => directoryOf(store) ?? []);

/** Returns why this process cannot use stores that another machine has made; undefined: it can. */
export async function sharedStoresFault(stores: readonly StoreOptions[], mark: string): Promise<string | undefined> {
  for (const store of stores) {
    const fault = store.type === "s3" ? await bucketFault(store) : await markFault(store.path, mark);
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
