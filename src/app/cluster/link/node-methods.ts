import type { Configuration } from "../../../configuration/configuration.ts";
import { type MethodsOf, method } from "../../../lib/process/method-table.ts";
import type { StoreOptions } from "../../../store/store-options.ts";
import { CALLED_BY_MEMBERS, MEMBER, type ServingState } from "../../process/process-methods.ts";
import type { LinkVersion } from "./link-version.ts";
import { RENDERER_HOST, RENDERER_REPORTS } from "./renderer-messages.ts";
import { storeChanges, withStoreChanges } from "./store-changes.ts";

/** The code of the error of a call that a closing lead has not begun. The caller may send it to the next lead. */
export const LEAD_CLOSING = "lead_closing";

/** The description of a node that requests to join. */
export interface NodeHello extends LinkVersion {
  /** The instance of the node. */
  readonly instance: string;
  readonly name: string;
  /** The locations of the tiles of its stores, by the id of the store. All nodes must have the same locations. */
  readonly stores: ReadonlyMap<string, string>;
  /** Whether the node is drained: it gets no renders, and does not take the lead. */
  readonly isDraining: boolean;
  /** True if the node has received SIGTERM: it gets no renders, and this cannot be undone. Absent if it has not. */
  readonly isLeaving?: boolean;
  /** The number of renderers that it can run at once for users. It can run as many for jobs. */
  readonly renderers: number;
}

/** Returns whether the value of a request to join describes a node. */
export function isNodeHello(value: unknown): value is NodeHello {
  if (typeof value !== "object" || value === null) return false;
  const { instance, name, stores, isDraining, renderers }: Partial<Record<keyof NodeHello, unknown>> = value;
  const areTexts = [instance, name].every((text) => typeof text === "string" && text !== "");
  return (
    areTexts &&
    typeof isDraining === "boolean" &&
    stores instanceof Map &&
    typeof renderers === "number" &&
    Number.isSafeInteger(renderers) &&
    renderers >= 0
  );
}

export type Welcome =
  /** The node has the state of the lead, and a lease. `leadLeaseMs` is the remaining time of the lead's lease. */
  | { readonly kind: "joined"; readonly instance: string; readonly leadLeaseMs: number }
  /** The lead is starting, has no valid lease, or is closing. */
  | { readonly kind: "not_now"; readonly reason: string }
  | { readonly kind: "refused"; readonly reason: string };

/** Methods of the lead that a node calls. */
export const LEAD = {
  ...CALLED_BY_MEMBERS,
  ...RENDERER_REPORTS,
  /** The first call. The messages with the lead's state arrive before the response. */
  join: method<(hello: NodeHello) => Promise<Welcome>>("call"),
  /**
   * Renews the lease of the node. Returns the remaining time of the lead's lease, ms. 0 if the lease is not renewed.
   */
  beat: method<() => Promise<number>>("call"),
  /** Stops renders on the node. Resolves when no render is left there. */
  retire: method<() => Promise<void>>("call"),
  /** Gives the lease back: the node no longer serves. */
  leave: method<() => Promise<void>>("call"),
};
export type LeadMethods = MethodsOf<typeof LEAD>;

/** Methods of a node that the lead calls. */
export const NODE = {
  ...MEMBER,
  ...RENDERER_HOST,
  /** Replaces the whole state of the node, including all tiles in memory. */
  begin: method<(state: ServingState, eventsId: string) => void>("note"),
  /**
   * Reports that the lead is closing. The node makes no further calls. When this resolves, all its calls have arrived.
   */
  closing: method<() => Promise<void>>("call"),
  /**
   * Begins or ends the drain of the node. A drained node is not ready at `/readyz`, and hands over the lead if it has
   * it. Resolves when this is in force.
   */
  drain: method<(drained: boolean) => Promise<void>>("call"),
  /** Replaces the names of the generations of a store in S3. Sent before the change that requires them. */
  names: method<(storeId: string, text: string) => void>("note"),
};
export type NodeMethods = MethodsOf<typeof NODE>;

/** A configuration in the form that the lead sends: `stores` has only the stores made over HTTP. */
export interface SharedConfiguration extends Configuration {
  /** The ids of all stores, in their order. Absent if the node's file has all of them. */
  readonly storeIds?: readonly string[];
}

/**
 * Returns the lead's configuration without the sections and secrets that each node has in its own file.
 * @param ofFile the stores in the lead's file
 */
export function sharedConfiguration(
  configuration: Configuration,
  ofFile: readonly StoreOptions[],
): SharedConfiguration {
  const { cluster: _, ...rest } = configuration;
  const { ids, made } = storeChanges(configuration.stores, ofFile);
  return { ...rest, state: { type: "embedded" }, stores: made, storeIds: ids };
}

/** Returns the configuration of a node: the lead's, with the node's own addresses, directories and secrets. */
export function nodeConfiguration(shared: SharedConfiguration, own: Configuration): Configuration {
  const { file, dataDir, state, cluster } = own;
  const { storeIds, stores: made, ...rest } = shared;
  const stores = storeIds === undefined ? own.stores : withStoreChanges(own, { ids: storeIds, made });
  const { host, port, workers, memoryTierMiB } = own.server;
  const server = { ...shared.server, host, port, workers, memoryTierMiB };
  return { ...rest, file, dataDir, state, stores, server, ...(cluster === undefined ? {} : { cluster }) };
}
