import type { ClusterOptions } from "../../../configuration/cluster-options.ts";
import type { Configuration } from "../../../configuration/configuration.ts";
import { type MethodsOf, method } from "../../../lib/process/method-table.ts";
import type { PostgresTarget } from "../../../state/postgres/postgres-url.ts";
import type { TellStores } from "../../../store/store-news.ts";
import type { StartRefusal } from "../../process/process-methods.ts";
import type { LoadInput } from "../../server/load-in-thread.ts";

/** The data with which a lead's process starts. */
export interface LeadData {
  readonly configuration: Configuration;
  readonly cluster: ClusterOptions;
  readonly target: PostgresTarget;
  /** The input with which the lead loads the configuration again. */
  readonly input: LoadInput;
  /** The instance of the node. */
  readonly instance: string;
  /** The epoch of the lead's lease that the node has taken. */
  readonly epoch: number;
}

/** The methods of a lead's process that its node calls. */
export const LEAD_PROCESS = {
  /** The first message. */
  begin: method<(data: LeadData) => void>("note"),
  /** Records news about a remote store from another process of the node. */
  storeNews: method<TellStores>("note"),
  /** Ends the lead in order, and gives its lease back. The process ends. */
  close: method<() => void>("note"),
};
export type LeadProcessMethods = MethodsOf<typeof LEAD_PROCESS>;

/** The methods of a node that its lead's process calls. */
export const LEAD_PARENT = {
  /** Reports why the lead could not start. The process ends. */
  refused: method<(refusal: StartRefusal) => void>("note"),
  /** Reports news about a remote store from a process of the lead. */
  storeNews: method<TellStores>("note"),
};
export type LeadParentMethods = MethodsOf<typeof LEAD_PARENT>;
