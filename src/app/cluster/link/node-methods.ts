import type { Configuration } from "../../../configuration/configuration.ts";
import type { StoreOptions } from "../../../store/store-options.ts";
import type { CalledByMembers, ServingState } from "../../process/process-methods.ts";
import type { MemberMethods } from "../../server/serving-members.ts";
import type { LinkVersion } from "./link-version.ts";
import type { RendererHostMethods, RendererReportMethods } from "./renderer-messages.ts";
import { storeChanges, withStoreChanges } from "./store-changes.ts";

/** The code of the error of a call that a closing lead has not begun: the next lead can carry it out. */
export const LEAD_CLOSING = "lead_closing";

/** A node that asks the lead for a lease. */
export interface NodeHello extends LinkVersion {
  /** The run of the node. */
  readonly instance: string;
  readonly name: string;
  /** Where the tiles of its stores are, by the id of the store. All nodes have the same. */
  readonly stores: ReadonlyMap<string, string>;
  /** The node gets no renders, and does not take the lead. */
  readonly isDraining: boolean;
  /** The node has received SIGTERM: it gets no renders, and cannot be taken back. Absent: it has not. */
  readonly isLeaving?: boolean;
  /** The renderers that it can run at once, for users and as many for jobs. */
  readonly renderers: number;
}

/** Returns whether what has asked to join describes a node. */
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
  /** The node has the state of the lead, and a lease. `leadLeaseMs`: what is left of the lease of the lead. */
  | { readonly kind: "joined"; readonly instance: string; readonly leadLeaseMs: number }
  /** The lead has not begun, has no valid lease itself, or is closing. */
  | { readonly kind: "not_now"; readonly reason: string }
  | { readonly kind: "refused"; readonly reason: string };

/** Methods of the lead that a node calls. */
export interface LeadMethods extends CalledByMembers, RendererReportMethods {
  /** The first call. The messages that bring the node its state arrive before the answer. */
  join(hello: NodeHello): Promise<Welcome>;
  /** Renews the lease of the node. Returns what is left of the lease of the lead, in ms; 0: the lead grants none. */
  beat(): number;
  /** The node gets no further renders. Answered when it has none left. */
  retire(): Promise<void>;
  /** Gives the lease up: the node serves no more. */
  leave(): void;
}

/** Methods of a node that the lead calls. */
export interface NodeMethods extends MemberMethods, RendererHostMethods {
  /** Replaces all that the node knows. Nothing that it had in memory counts any more. */
  begin(state: ServingState, eventsId: string): void;
  /**
   * Reports that the lead is closing. The node sends it nothing more: once this is answered, all calls of the node have
   * arrived.
   */
  closing(): void;
  /**
   * Begins or ends the drain of the node: while it is drained, `/readyz` says so, and a node that has the lead hands it
   * over. Answered when that is in force.
   */
  drain(drained: boolean): void | Promise<void>;
  /** Replaces the names of the generations of a store in S3, before the change that goes with them. */
  names(storeId: string, text: string): void;
}

/** A configuration as the lead sends it: its `stores` are those that were made over HTTP. */
export interface SharedConfiguration extends Configuration {
  /** The ids of all stores, in their order. Absent: those of the node's file. */
  readonly storeIds?: readonly string[];
}

/**
 * Returns the configuration of the lead without what each node has of its own, and without the secrets of that.
 * @param ofFile the stores that stand in the file of the lead
 */
export function sharedConfiguration(
  configuration: Configuration,
  ofFile: readonly StoreOptions[],
): SharedConfiguration {
  const { cluster: _, ...rest } = configuration;
  const { ids, made } = storeChanges(configuration.stores, ofFile);
  return { ...rest, state: { type: "embedded" }, stores: made, storeIds: ids };
}

/** Returns the configuration of a node: that of the lead, and its own place in the network and on this machine. */
export function nodeConfiguration(shared: SharedConfiguration, own: Configuration): Configuration {
  const { file, dataDir, state, cluster } = own;
  const { storeIds, stores: made, ...rest } = shared;
  const stores = storeIds === undefined ? own.stores : withStoreChanges(own, { ids: storeIds, made });
  const { host, port, workers, memoryTierMiB } = own.server;
  const server = { ...shared.server, host, port, workers, memoryTierMiB };
  return { ...rest, file, dataDir, state, stores, server, ...(cluster === undefined ? {} : { cluster }) };
}
