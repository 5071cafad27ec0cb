import { join, sep } from "node:path";
import { defined } from "../../../lib/defined.ts";
import { OWN_KEYS } from "../../../store/remote/remote-options.ts";
import { placeOf } from "../../../store/remote-kinds.ts";
import { DEFAULT_STORE, directoryOf, isRemote, type StoreOptions } from "../../../store/store-options.ts";
import type { LayerDocument } from "../../fields/layer-schema.ts";
import type { StoreDocument } from "../../fields/stores-schema.ts";
import type { Problems } from "../read/problems.ts";
import { buildTls } from "./build-tls.ts";

export interface StoresContext {
  /** An absolute path. */
  readonly dataDir: string;
  /** The directory of the store that exists without a section `stores`. */
  readonly defaultDirectory: string;
  /** The id of the store to put first. Undefined for the order of the file. */
  readonly first?: string | undefined;
  /** True if the default store exists beside the configured ones. */
  readonly keepsDefault?: boolean;
  /** True if the default store is a directory of GeoWebCache that contains the directories of other stores. */
  readonly holdsOthers?: boolean;
  /** Whether other programs write into the stores. */
  readonly isShared: boolean;
  readonly problems: Problems;
}

/** Builds the stores in the order of the file. A document is undefined if it did not fit the schema. */
export function buildStores(
  documents: readonly (StoreDocument | undefined)[] | undefined,
  context: StoresContext,
): readonly StoreOptions[] {
  const { defaultDirectory, problems, first, keepsDefault = false } = context;
  const standard = { id: DEFAULT_STORE, type: "file", path: defaultDirectory, layout: "gwc" } as const;
  if (documents === undefined) return [standard];
  if (documents.length === 0) problems.add(["stores"], "expected at least one store; without the key there is one");
  const stores: StoreOptions[] = keepsDefault ? [standard] : [];
  for (const [i, document] of documents.entries()) {
    if (document === undefined) continue;
    const store = buildStore(document, i, context);
    if (stores.some(({ id }) => id === store.id))
      problems.add(["stores", i, "id"], `two stores are called ${JSON.stringify(store.id)}`);
    checkDirectory(store, i, stores, context);
    if (document.type === "s3") checkKeys(document, i, problems);
    if ("ca" in document) checkAuthorities(document, i, problems);
    if (isRemote(store) && store.diskTier !== undefined && context.isShared)
      problems.add(
        ["stores", i, "diskTier"],
        "a disk tier cannot be used with store.shared: true, as it does not see what other programs store",
      );
    checkPrefix(store, i, stores, problems);
    stores.push(store);
  }
  const head = stores.find(({ id }) => id === first);
  return head === undefined ? stores : [head, ...stores.filter((store) => store !== head)];
}

function buildStore(document: StoreDocument, i: number, { dataDir, problems }: StoresContext): StoreOptions {
  const at = ["stores", i];
  if ("path" in document) return { ...document, path: problems.fileAt([...at, "path"], document.path) };
  const { ca, timeoutSeconds, diskTier, ...own } = document;
  const caFile = buildTls(defined({ ca }), at, problems)?.ca;
  const common = {
    timeoutMs: timeoutSeconds * 1000,
    namesFile: join(dataDir, "stores", `${document.id}.generations.json`),
    ...(diskTier === undefined
      ? {}
      : {
          diskTier: {
            path: problems.fileAt([...at, "diskTier", "path"], diskTier.path),
            limitBytes: diskTier.sizeMiB * 2 ** 20,
          },
        }),
    ...(caFile === undefined ? {} : { caFile }),
  };
  switch (own.type) {
    case "s3":
      return { ...s3Options(own), ...common };
    case "azure":
      return { ...own, ...common };
  }
}

function s3Options(document: Omit<Extract<StoreDocument, { type: "s3" }>, "ca" | "timeoutSeconds" | "diskTier">) {
  const { accessKeyId, secretAccessKey, sessionToken, kmsKeyId, serverSideEncryption, ...options } = document;
  return {
    ...options,
    ...(accessKeyId === undefined || secretAccessKey === undefined
      ? {}
      : { credentials: { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) } }),
    ...(serverSideEncryption === undefined
      ? {}
      : { serverSideEncryption: { algorithm: serverSideEncryption, ...(kmsKeyId === undefined ? {} : { kmsKeyId }) } }),
  };
}

function checkKeys(document: Extract<StoreDocument, { type: "s3" }>, i: number, problems: Problems): void {
  const { accessKeyId, secretAccessKey, sessionToken, kmsKeyId, serverSideEncryption } = document;
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    const missing = accessKeyId === undefined ? "accessKeyId" : "secretAccessKey";
    problems.add(["stores", i], `${missing} is missing: expected both keys of the account, or none`);
  }
  if (sessionToken !== undefined && accessKeyId === undefined)
    problems.add(["stores", i, "sessionToken"], "expected accessKeyId and secretAccessKey beside it");
  if (kmsKeyId !== undefined && serverSideEncryption !== "aws:kms")
    problems.add(["stores", i, "kmsKeyId"], "expected serverSideEncryption: aws:kms beside it");
}

function checkAuthorities(
  { ca, endpoint }: { readonly ca?: string; readonly endpoint?: string },
  i: number,
  problems: Problems,
): void {
  if (ca !== undefined && endpoint?.startsWith("http:") === true)
    problems.add(["stores", i, "ca"], `expected an endpoint with https:// beside it, got ${JSON.stringify(endpoint)}`);
}

function checkDirectory(store: StoreOptions, i: number, others: readonly StoreOptions[], context: StoresContext): void {
  const { dataDir, problems, holdsOthers = false } = context;
  const path = occupiedBy(store);
  if (path === undefined) return;
  const key = ["stores", i, ...(isRemote(store) ? ["diskTier"] : []), "path"];
  if (holds(path, dataDir))
    problems.add(key, `${path} holds the data directory ${dataDir}: a store needs a directory of its own`);
  for (const other of others) {
    if (holdsOthers && other.id === DEFAULT_STORE) continue;
    const taken = occupiedBy(other);
    if (taken === undefined || !(holds(path, taken) || holds(taken, path))) continue;
    const what = taken === path ? "is" : holds(path, taken) ? "holds" : "is inside";
    problems.add(
      key,
      `${path} ${what} the directory of the store ${JSON.stringify(other.id)}${taken === path ? "" : ` (${taken})`}: stores cannot share directories`,
    );
  }
}

/** Returns the directory on this machine that a store, or its disk tier, uses alone. Undefined if it uses none. */
const occupiedBy = (store: StoreOptions): string | undefined =>
  isRemote(store) ? store.diskTier?.path : directoryOf(store);

/** Reports a store in a bucket if another store would list, count and truncate its keys. */
function checkPrefix(store: StoreOptions, i: number, others: readonly StoreOptions[], problems: Problems): void {
  if (!isRemote(store)) return;
  for (const other of others) {
    if (!isRemote(other) || placeOf(other).key !== placeOf(store).key) continue;
    if (!holdsKeys(store.prefix, other.prefix) && !holdsKeys(other.prefix, store.prefix)) continue;
    const [own, taken] = [JSON.stringify(store.prefix), JSON.stringify(other.prefix)];
    const [what, more] =
      own === taken ? ["is", ""] : [holdsKeys(store.prefix, other.prefix) ? "holds" : "is inside", ` (${taken})`];
    problems.add(
      ["stores", i, "prefix"],
      `${own} ${what} the prefix of the store ${JSON.stringify(other.id)}${more} in the bucket ${placeOf(store).bucket}: stores cannot share keys`,
    );
  }
}

const holdsKeys = (prefix: string, inside: string): boolean =>
  prefix === "" || inside === prefix || inside.startsWith(`${prefix}/`);

/** Returns whether two directories are equal or the first contains the second. */
const holds = (directory: string, inside: string): boolean =>
  inside === directory || inside.startsWith(directory.endsWith(sep) ? directory : directory + sep);

/**
 * Reports layers that name an unknown store. A store with a problem does not count as unknown. Also reports a layer
 * whose tiles would have keys that a remote store reserves.
 */
export function checkLayerStores(
  documents: readonly (LayerDocument | undefined)[],
  declared: readonly string[] | undefined,
  stores: readonly StoreOptions[],
  problems: Problems,
): void {
  for (const [i, layer] of documents.entries()) {
    const store = layer?.store;
    if (problems.hasSkipped(["stores"])) continue;
    const used = stores.find(({ id }) => id === store) ?? stores[0];
    if (layer?.name === OWN_KEYS && used !== undefined && isRemote(used))
      problems.add(
        ["layers", i, "name"],
        `expected another name than ${OWN_KEYS}: the store ${JSON.stringify(used.id)} has keys of its own there`,
      );
    if (store === undefined || declared?.includes(store) === true) continue;
    const path = ["layers", i, "store"];
    if (declared === undefined)
      problems.add(path, `unknown store ${JSON.stringify(store)}: the configuration has no section stores`);
    else problems.add(path, `unknown store ${JSON.stringify(store)} (known: ${declared.join(", ")})`);
  }
}
