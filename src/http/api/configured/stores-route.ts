import { documentOf, fileOf } from "../../../configuration/gwc/configured-object.ts";
import { storeContent } from "../../../configuration/gwc/store-object.ts";
import { conflict, type Refusal } from "../../../lib/refusal.ts";
import { ok, refuse } from "../../../lib/result.ts";
import { storeConfiguration, storeConfigurationWithSecrets, storeTag } from "../../../store/store-configuration.ts";
import { DEFAULT_STORE, type StoreOptions } from "../../../store/store-options.ts";
import { fixedStore, usersOfStore } from "../../configuration/blob-stores-route.ts";
import type { RouteOptions } from "../../resource.ts";
import { documentAnswer, operation } from "../api-operation.ts";
import { type ChangedKind, isEditable, locationOf, objectOperations } from "./object-changes.ts";

type Configured = Pick<RouteOptions, "configured">;

const unknownStore = (id: string): Refusal => ({ code: "not_found", message: `Unknown store: ${id}` });

const storeOf = ({ configured }: Configured, id: string): StoreOptions | undefined =>
  configured().stores.find((store) => store.id === id);

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

function storeKind(parts: Configured): ChangedKind {
  const { configured } = parts;
  return {
    kind: "store",
    what: "store",
    nameKey: "id",
    present: (_, of) => {
      const found = storeOf(parts, of);
      if (found === undefined) return undefined;
      const made = documentOf(configured().objects, "store", of);
      return {
        shown: storeConfiguration(found),
        made: made === undefined ? undefined : storeContent(made),
        whole: storeConfigurationWithSecrets(found),
        tag: storeTag(found),
        fixed: fixedStore(parts, of),
      };
    },
    unknown: unknownStore,
    reserved: (of) => (of === DEFAULT_STORE ? fixedStore(parts, of) : undefined),
    answer: async ({ base }, of, status) => {
      const found = storeOf(parts, of);
      if (found === undefined) return refuse(unknownStore(of));
      const origin = originOf(parts, of);
      const document = {
        ...storeView(parts, found),
        editable: isEditable(parts, fixedStore(parts, of)),
        configuredAt: origin === "file" ? (fileOf(configured(), { kind: "store", name: of }) ?? null) : null,
        configuration: storeConfiguration(found),
      };
      return documentAnswer("Store", document, status, {
        ETag: storeTag(found),
        ...locationOf(status, base, "stores", of),
      });
    },
    inUse: (exchange, of) => {
      const users = usersOfStore(parts, exchange, of);
      return users.length === 0 ? undefined : conflict(`The store ${of} is in use by ${users.join(", ")}.`);
    },
  };
}

export const storeOperations = [
  operation(
    "GET /stores",
    "listStores",
    "Lists the stores in the order of the configuration",
    { answer: "Stores" },
    async (parts: Configured) => ok({ stores: parts.configured().stores.map((store) => storeView(parts, store)) }),
  ),
  ...objectOperations("/stores/{name}", "Store", { summary: "Returns one store, without its secrets" }, storeKind),
];
