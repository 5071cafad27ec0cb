import type { Refusal } from "../../../lib/refusal.ts";
import { refuse } from "../../../lib/result.ts";
import type { Resource, RouteOptions } from "../../resource.ts";
import { documentAnswer, reader } from "../api-answer.ts";

type Configured = Pick<RouteOptions, "configured">;

function storeViews({ configured }: Configured) {
  const { stores, layers } = configured();
  const [first] = stores;
  return stores.map(({ id, type }) => ({
    id,
    type,
    isDefault: id === first?.id,
    layers: layers.flatMap(({ name, store = first?.id }) => (store === id ? [name] : [])),
  }));
}

/** `stores`: GET lists the stores in the order of the configuration. */
export const storesResource = (parts: Configured): Resource =>
  reader(async () => documentAnswer("Stores", { stores: storeViews(parts) }));

/** `stores/ID`: GET returns one store. */
export const storeResource = (parts: Configured, id: string): Resource =>
  reader(async () => {
    const found = storeViews(parts).find((store) => store.id === id);
    const unknown: Refusal = { code: "not_found", message: `Unknown store: ${id}` };
    return found === undefined ? refuse(unknown) : documentAnswer("Store", found);
  });
