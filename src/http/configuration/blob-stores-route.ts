import { BEYOND_GEOWEBCACHE } from "../../configuration/fields/elements/store-elements.ts";
import { documentOf, fileOf } from "../../configuration/gwc/configured-object.ts";
import { type RootedDocument, textOf } from "../../configuration/gwc/document-node.ts";
import { ownContent } from "../../configuration/gwc/own-document.ts";
import {
  completeStore,
  isUsable,
  shownStore,
  storeDocument,
  storeFault,
} from "../../configuration/gwc/store-object.ts";
import { conflict, type Refusal } from "../../lib/refusal.ts";
import { refuse } from "../../lib/result.ts";
import { DEFAULT_STORE } from "../../store/store-options.ts";
import type { Exchange, Route, RouteOptions } from "../resource.ts";
import {
  type Change,
  configuredRoute,
  deleteObject,
  inUse,
  type Present,
  presentObject,
  putObject,
  readerOf,
} from "./configured-route.ts";

type StoreParts = Pick<RouteOptions, "configured" | "changeObject">;

const STORES = {
  kind: "store",
  what: "a store",
  mismatch: "There is a mismatch between the id of the store in the submission and the URL you specified.",
  contentOf: completeStore,
  complete: completeStore,
  faultOf: storeFault,
} as const;

const unknownStore = (name: string, method: "GET" | "DELETE"): string =>
  `Failed to ${method === "GET" ? "get" : "remove"} BlobStoreInfo. A BlobStoreInfo with name "${name}" does not exist.`;

/** `/rest/blobstores` and `/rest/blobstores/ID`. A new store can be used as soon as its PUT is answered. */
export function blobStoresRoute(parts: StoreParts): Route {
  const { configured } = parts;
  return configuredRoute(parts, {
    segment: "blobstores",
    elements: ["blobStores", "blobStore"],
    standard: "xml",
    names: () => namesOf(parts),
    find: ({ caller }, name) => {
      const found = present(parts, name)?.document;
      return found && shownStore(found, configured().stores[0]?.id === name, readerOf(caller));
    },
    unknown: unknownStore,
    changes: {
      PUT: putStore,
      DELETE: deleteStore,
    },
  });
}

/** Returns the stores of the file, then those made over HTTP. */
function namesOf({ configured }: StoreParts): readonly string[] {
  const { stores, objects } = configured();
  const made = objects.flatMap(({ kind, name, document }) =>
    kind === "store" && document !== undefined ? [name] : [],
  );
  const others = stores.flatMap(({ id }) => (id === DEFAULT_STORE || made.includes(id) ? [] : [id]));
  return [...others, ...made];
}

/** Returns a store in force. Undefined if it does not exist. Does not return the implicit default store. */
function present(parts: StoreParts, name: string): Present | undefined {
  const { stores } = parts.configured();
  const made = presentObject(parts, "store", name);
  const found = name === DEFAULT_STORE ? undefined : stores.find(({ id }) => id === name);
  if (found === undefined || (made !== undefined && ownContent(made.document) === undefined)) return made;
  return {
    document: storeDocument(found, found === stores[0]),
    isFixed: true,
    refusal: fixedStore(parts, name),
  };
}

/** Returns why a store cannot be changed over HTTP. Undefined if it can. */
export function fixedStore({ configured }: Pick<RouteOptions, "configured">, name: string): Refusal | undefined {
  const present = configured();
  const { objects, isWritable } = present;
  if (name === DEFAULT_STORE) return reserved();
  if (isWritable || documentOf(objects, "store", name) !== undefined) return undefined;
  const place = fileOf(present, { kind: "store", name });
  return conflict(`The store ${name} is defined in ${place ?? "the variables of the server"}, and is changed there.`);
}

/** Returns the layers whose tiles are in a store, and layers that name the store but are not served. */
export function usersOfStore(
  { configured }: Pick<RouteOptions, "configured">,
  { catalogue }: Pick<Exchange, "catalogue">,
  name: string,
): readonly string[] {
  const { stores, objects } = configured();
  const served = [...catalogue.layers.values()].flatMap(({ name: layer, store = stores[0]?.id }) =>
    store === name ? [layer] : [],
  );
  const named = objects.flatMap(({ kind, name: layer, document }) =>
    kind === "layer" && document !== undefined && textOf(document.node, "blobStoreId") === name ? [layer] : [],
  );
  return [...new Set([...served, ...named])];
}

const reserved = (): Refusal =>
  conflict(`The store ${DEFAULT_STORE} is the store of the data directory, which cannot be changed.`);

const putStore: Change<StoreParts> = async (parts, exchange, name) => {
  if (name === DEFAULT_STORE) return refuse(reserved());
  const users = usersOfStore(parts, exchange, name);
  const refusalOf = (document: RootedDocument) =>
    users.length > 0 && !isUsable(document) ? inUse("a store", name, users) : undefined;
  const put = await putObject(
    parts,
    { ...STORES, faultOf: faultIn(parts), refusalOf },
    exchange,
    name,
    present(parts, name),
  );
  return put.ok ? { status: put.value.isNew ? 201 : 200, body: "", detail: put.value.detail } : put;
};

/**
 * Returns why a store must not be written to GeoWebCache's file: GeoWebCache does not start if the file has an unknown
 * kind of store.
 */
const faultIn =
  ({ configured }: StoreParts) =>
  (document: RootedDocument): string | undefined =>
    configured().geowebcache !== undefined && BEYOND_GEOWEBCACHE.has(document.root)
      ? `${document.root}: expected a kind of store that GeoWebCache has, because geowebcache.xml must contain it`
      : storeFault(document);

const deleteStore: Change<StoreParts> = async (parts, exchange, name) => {
  if (name === DEFAULT_STORE) return refuse(reserved());
  const removed = await deleteObject(parts, STORES, exchange, name, present(parts, name), {
    unknown: unknownStore(name, "DELETE"),
    users: usersOfStore(parts, exchange, name),
  });
  return removed.ok ? { status: 200, body: "", detail: `${name}: removed` } : removed;
};
