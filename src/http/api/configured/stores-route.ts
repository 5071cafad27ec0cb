import { documentOf, fileOf } from "../../../configuration/gwc/configured-object.ts";
import { storeContent } from "../../../configuration/gwc/store-object.ts";
import type { Refusal } from "../../../lib/refusal.ts";
import { ok } from "../../../lib/result.ts";
import { storeConfiguration, storeConfigurationWithSecrets, storeTag } from "../../../store/store-configuration.ts";
import { DEFAULT_STORE, type StoreOptions } from "../../../store/store-options.ts";
import { fixedStore, usersOfStore } from "../../configuration/blob-stores-route.ts";
import type { RouteOptions } from "../../resource.ts";
import { operation } from "../api-operation.ts";
import { type ChangedKind, objectOperations } from "./object-changes.ts";

type Configured = Pick<RouteOptions, "configured">;

function originOf({ configured }: Configured, id: string): "default" | "file" | "http" {
  if (documentOf(configured().objects, "store", id) !== undefined) return "http";
  return id === DEFAULT_STORE ? "default" : "file";
}

function storeView(parts: Configured, { id, type }: StoreOptions) {
  const { stores, layers } = parts.configured();
  const [first] = stores;
  return {
    id,
    type,
    isDefault: id === first?.id,
    origin: originOf(parts, id),
    layers: layers.flatMap(({ name, store = first?.id }) => (store === id ? [name] : [])),
  };
}

function storeKind(parts: Pick<RouteOptions, "configured">): ChangedKind<StoreOptions, "Store"> {
  const fixed = (id: string): Refusal | undefined => fixedStore(parts, id);
  return {
    kind: "store",
    what: "store",
    nameKey: "id",
    find: (of) => parts.configured().stores.find(({ id }) => id === of),
    unknown: (id) => ({ code: "not_found", message: `Unknown store: ${id}` }),
    shown: storeConfiguration,
    whole: storeConfigurationWithSecrets,
    made: storeContent,
    tag: storeTag,
    fixed,
    describe: (store, { editable }) => {
      const view = storeView(parts, store);
      return {
        ...view,
        editable,
        configuredAt:
          view.origin === "file" ? (fileOf(parts.configured(), { kind: "store", name: store.id }) ?? null) : null,
        configuration: storeConfiguration(store),
      };
    },
    reserved: (id) => (id === DEFAULT_STORE ? fixed(id) : undefined),
    users: (exchange, id) => usersOfStore(parts, exchange, id),
  };
}

export const storeOperations = [
  operation(
    "GET /stores",
    "listStores",
    "Lists the stores in the order of the configuration",
    { answer: "Stores" },
    async (parts) => ok({ stores: parts.configured().stores.map((store) => storeView(parts, store)) }),
  ),
  ...objectOperations(["stores", "name"], "Store", { summary: "Returns one store, without its secrets" }, storeKind),
];
