import { type RootedDocument, textOf } from "../../gwc/document-node.ts";
import { BLOB_STORE_ROOTS } from "../../gwc/field-types.ts";
import { badField, conflict } from "../../lib/refusal.ts";
import { refuse } from "../../lib/result.ts";
import { DEFAULT_STORE } from "../../store/store-options.ts";
import type { Reply, Route, RouteOptions } from "../resource.ts";
import { blobStoreDocument } from "./blob-store-document.ts";
import { configuredRoute, notFound } from "./configured-route.ts";
import { changedFields, decodeDocument } from "./decode-document.ts";
import { bodyForm } from "./document-form.ts";

const unknownStore = (name: string, method: "GET" | "DELETE"): string =>
  `Failed to ${method === "GET" ? "get" : "remove"} BlobStoreInfo. A BlobStoreInfo with name "${name}" does not exist.`;

/** `/rest/blobstores` and `/rest/blobstores/ID`. Stores are opened at the start, so they are changed in the file. */
export function blobStoresRoute({ configured }: Pick<RouteOptions, "configured">): Route {
  const stores = () => configured().stores.filter(({ id }) => id !== DEFAULT_STORE);
  const inFile = (name: string): Reply =>
    refuse(
      conflict(
        `The store ${name} stands in ${configured().file ?? "no file"}: stores are changed there, by a restart.`,
      ),
    );
  const find = (name: string): RootedDocument | undefined => {
    const found = stores().find(({ id }) => id === name);
    return found === undefined ? undefined : blobStoreDocument(found, found.id === stores()[0]?.id);
  };
  return configuredRoute({
    segment: "blobstores",
    elements: ["blobStores", "blobStore"],
    standard: "xml",
    names: () => stores().map(({ id }) => id),
    find: (_, name) => find(name),
    unknown: unknownStore,
    changes: {
      PUT: async (exchange, name) => {
        const form = bodyForm(exchange);
        if (!form.ok) return form;
        const present = find(name);
        const decoded = await exchange.body((bytes) =>
          decodeDocument(bytes, form.value, "a store", BLOB_STORE_ROOTS, present),
        );
        if (!decoded.ok) return decoded;
        if ((textOf(decoded.value.node, "id") ?? name) !== name)
          return refuse(
            badField("id", `the name in the address, ${JSON.stringify(name)}`, textOf(decoded.value.node, "id")),
          );
        return present?.root === decoded.value.root && changedFields(decoded.value, present).length === 0
          ? { status: 200, body: "" }
          : inFile(name);
      },
      DELETE: async (_, name) =>
        stores().some(({ id }) => id === name) ? inFile(name) : refuse(notFound(unknownStore(name, "DELETE"))),
    },
  });
}
