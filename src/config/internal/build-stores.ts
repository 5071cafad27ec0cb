import { resolve, sep } from "node:path";
import { DEFAULT_STORE, directoryOf, type StoreOptions } from "../../store/store-options.ts";
import type { Problems } from "./problems.ts";
import type { LayerDocument } from "./schema/layer-schema.ts";
import type { StoreDocument } from "./schema/stores-schema.ts";

export interface StoresContext {
  /** An absolute path. */
  readonly dataDir: string;
  /** The directory to which relative paths refer. */
  readonly cwd: string;
  /** The directory of the store that exists without `stores:`. */
  readonly defaultDirectory: string;
  readonly problems: Problems;
}

/** Builds the stores in the order of the file. Documents that did not fit the schema are undefined here. */
export function buildStores(
  documents: readonly (StoreDocument | undefined)[] | undefined,
  context: StoresContext,
): readonly StoreOptions[] {
  const { cwd, defaultDirectory, problems } = context;
  if (documents === undefined) return [{ id: DEFAULT_STORE, type: "file", path: defaultDirectory, layout: "gwc" }];
  if (documents.length === 0) problems.add(["stores"], "expected at least one store; without the key there is one");
  const stores: StoreOptions[] = [];
  for (const [i, document] of documents.entries()) {
    if (document === undefined) continue;
    const store: StoreOptions = { ...document, path: resolve(cwd, document.path) };
    if (stores.some(({ id }) => id === store.id))
      problems.add(["stores", i, "id"], `two stores are called ${JSON.stringify(store.id)}`);
    checkDirectory(store, i, stores, context);
    stores.push(store);
  }
  return stores;
}

function checkDirectory(store: StoreOptions, i: number, others: readonly StoreOptions[], context: StoresContext): void {
  const { dataDir, problems } = context;
  const path = directoryOf(store);
  if (path === undefined) return;
  if (holds(path, dataDir))
    problems.add(
      ["stores", i, "path"],
      `${path} holds the data directory ${dataDir}: a store needs a directory of its own`,
    );
  for (const other of others) {
    const taken = directoryOf(other);
    if (taken === undefined || !(holds(path, taken) || holds(taken, path))) continue;
    const what = taken === path ? "is" : holds(path, taken) ? "holds" : "is inside";
    problems.add(
      ["stores", i, "path"],
      `${path} ${what} the directory of the store ${JSON.stringify(other.id)}${taken === path ? "" : ` (${taken})`}: stores cannot share directories`,
    );
  }
}

/** Returns whether a directory is another one or contains it. */
const holds = (directory: string, inside: string): boolean =>
  inside === directory || inside.startsWith(directory.endsWith(sep) ? directory : directory + sep);

/** Reports layers that name an unknown store. Not for stores with problems: they would be reported as unknown too. */
export function checkLayerStores(
  documents: readonly (LayerDocument | undefined)[],
  declared: readonly string[] | undefined,
  problems: Problems,
): void {
  for (const [i, layer] of documents.entries()) {
    const store = layer?.store;
    if (store === undefined || declared?.includes(store) === true) continue;
    if (problems.hasSkipped(["stores"])) continue;
    const path = ["layers", i, "store"];
    if (declared === undefined)
      problems.add(path, `unknown store ${JSON.stringify(store)}: the configuration has no section stores`);
    else problems.add(path, `unknown store ${JSON.stringify(store)} (known: ${declared.join(", ")})`);
  }
}
