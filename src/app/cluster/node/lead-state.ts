import type { Configuration } from "../../../configuration/configuration.ts";
import { type LayerUpdate, withLayer } from "../../../configuration/in-force/layer-update.ts";
import type { Logger } from "../../../lib/process/logger.ts";
import type { Serving } from "../../serving/serving.ts";
import { type NodeMethods, nodeConfiguration } from "../link/node-methods.ts";
import { NodeNames } from "./node-names.ts";

/** Applies the configurations and generation names that the lead sends to a node, in the order of the messages. */
export class LeadState {
  readonly #own: Configuration;
  readonly #serving: Serving;
  readonly #log: Logger;
  readonly #names = new NodeNames();
  #configuration: Configuration;
  #applied = Promise.resolve();

  /** @param own the configuration of the node's own file */
  constructor(own: Configuration, serving: Serving, log: Logger) {
    this.#own = own;
    this.#serving = serving;
    this.#log = log;
    this.#configuration = own;
  }

  get configuration(): Configuration {
    return this.#configuration;
  }

  /** Resolves when all messages of the lead so far are applied. Rejects with the fault of the last one. */
  get applied(): Promise<void> {
    return this.#applied;
  }

  /** The methods that the lead calls. */
  readonly methods: Pick<NodeMethods, "applied" | "begin" | "configure" | "configureLayer" | "names"> = {
    applied: () => this.#applied,
    begin: (state, eventsId) => {
      this.#inTurn(async () => {
        const configuration = nodeConfiguration(state.configuration, this.#own);
        this.#configuration = configuration;
        this.#names.configure(configuration.stores);
        await this.#serving.restart({ ...state, configuration }, eventsId);
      }).catch((error: unknown) =>
        this.#log.error("the state of the lead cannot be applied", { error: String(error) }),
      );
    },
    configure: (shared) => this.#inTurn(() => this.#configure(nodeConfiguration(shared, this.#own))),
    configureLayer: (update: LayerUpdate) =>
      this.#inTurn(() => this.#configure(withLayer(this.#configuration, update))),
    names: (id, text) => {
      const { stores, layers } = this.#configuration;
      const isFirst = this.#names.replace(stores, id, text);
      // Until now tiles were read as if no truncation had ever happened in the store.
      if (isFirst) for (const { name } of layers) this.#serving.clear(name);
    },
  };

  #inTurn(work: () => Promise<void>): Promise<void> {
    // The lead has received the fault of the earlier work as the answer to its call.
    this.#applied = this.#applied.catch(() => undefined).then(work);
    return this.#applied;
  }

  async #configure(next: Configuration): Promise<void> {
    this.#configuration = next;
    this.#names.configure(next.stores);
    await this.#serving.configure(next);
  }
}
