import type { ClusterOptions } from "../../../configuration/cluster-options.ts";
import type { Configuration } from "../../../configuration/configuration.ts";
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
export interface LeadProcessMethods {
  /** The first message. */
  begin(data: LeadData): void;
  /** Records news about a remote store from another process of the node. */
  readonly storeNews: TellStores;
  /** Ends the lead in order, and gives its lease back. The process ends. */
  close(): void;
}

/** The methods of a node that its lead's process calls. */
export interface LeadParentMethods {
  /** Reports why the lead could not start. The process ends. */
  refused(refusal: StartRefusal): void;
  /** Reports news about a remote store from a process of the lead. */
  readonly storeNews: TellStores;
}
