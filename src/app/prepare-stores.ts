import { access, constants } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import type { Configuration } from "../config/configuration.ts";
import { fileFault } from "../lib/file-fault.ts";
import { makeDirectory } from "../lib/make-directory.ts";
import { conflict, type Refusal } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import { directoryOf, type S3StoreConfiguration } from "../store/store-options.ts";

/**
 * Makes the directories of new stores, and checks that new buckets can be reached. Refuses a configuration with a store
 * that cannot be used.
 */
export async function prepareStores(
  next: Pick<Configuration, "stores" | "cluster">,
  present: Pick<Configuration, "stores">,
): Promise<Result<null, Refusal>> {
  if (next.cluster !== undefined && !isDeepStrictEqual(next.stores, present.stores))
    return refuse(
      conflict("The stores of a cluster stand in the configuration files of its nodes, and are changed there."),
    );
  const added = next.stores.filter((store) => !present.stores.some((one) => isDeepStrictEqual(one, store)));
  for (const store of added) {
    const fault = store.type === "s3" ? await bucketFault(store) : await directoryFault(directoryOf(store));
    if (fault !== undefined) return refuse({ code: "bad_field", message: fault });
  }
  return ok(null);
}

/** Returns why the directory of a store cannot be used; undefined: it can. */
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

async function bucketFault(store: S3StoreConfiguration): Promise<string | undefined> {
  const { createS3Store } = await import("../store/s3/s3-store.ts");
  const opened = createS3Store({ ...store, isOwner: false });
  try {
    const trouble = await opened.trouble();
    return trouble && `bucket: ${trouble.message}`;
  } finally {
    await opened[Symbol.asyncDispose]();
  }
}
