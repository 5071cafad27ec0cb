import type { ClusterOptions } from "../../../configuration/cluster-options.ts";
import type { Configuration } from "../../../configuration/configuration.ts";
import type { PostgresTarget } from "../../../state/postgres/postgres-url.ts";
import type { TellStores } from "../../../store/store-news.ts";
import type { StartRefusal } from "../../process/process-methods.ts";
import type { LoadInput } from "../../server/reload/load-in-thread.ts";

/** The data that the process of a lead receives. */
export interface LeadData {
  readonly configuration: Configuration;
  readonly cluster: ClusterOptions;
  readonly target: PostgresTarget;
  /** How the configuration is loaded again. */
  readonly input: LoadInput;
  /** The run of the node. */
  readonly instance: string;
  /** The epoch of the lease that the node has taken. */
  readonly epoch: number;
}

/** Methods of the process of a lead that its node calls. */
export interface LeadProcessMethods {
  /** The first message. */
  begin(data: LeadData): void;
  /** Takes over what another process of the node has found out about a remote store. */
  readonly storeNews: TellStores;
  /** Ends the lead in order and gives its lease back. The process ends. */
  close(): void;
}

/** Methods of a node that the process of its lead calls. */
export interface LeadParentMethods {
  /** Reports why the lead could not start. The process ends. */
  refused(refusal: StartRefusal): void;
  /** Reports what a process of the lead has found out about a remote store. */
  readonly storeNews: TellStores;
}
