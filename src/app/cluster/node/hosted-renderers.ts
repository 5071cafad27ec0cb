import type { Message } from "../../../lib/process/message.ts";
import type { StoreOptions } from "../../../store/store-options.ts";
import type { RendererHost, RendererProcess } from "../../server/renderers/renderer-host.ts";
import type { RendererHostMethods, RendererReportMethods } from "../link/renderer-messages.ts";
import type { StoreChanges } from "../link/store-changes.ts";

/** The renderers that a lead has started on this node, during one connection to the lead. */
export class HostedRenderers implements RendererHostMethods {
  readonly #local: RendererHost;
  readonly #lead: () => RendererReportMethods | undefined;
  readonly #storesWith: (changes: StoreChanges) => readonly StoreOptions[];
  readonly #processes = new Map<number, RendererProcess>();

  /** @param storesWith returns the stores of this node with the changes that the lead has sent */
  constructor(
    local: RendererHost,
    storesWith: (changes: StoreChanges) => readonly StoreOptions[],
    lead: () => RendererReportMethods | undefined,
  ) {
    this.#storesWith = storesWith;
    this.#local = local;
    this.#lead = lead;
  }

  startRenderer(id: number, nice: number): void {
    const process = this.#local.start(nice, (end) => {
      this.#processes.delete(id);
      this.#lead()?.rendererEnded(id, end);
    });
    this.#processes.set(id, process);
    process.port.on("message", (message) => this.#lead()?.fromRenderer(id, message));
  }

  toRenderer(id: number, message: Message): void {
    this.#processes.get(id)?.port.postMessage(message);
  }

  killRenderer(id: number): void {
    this.#processes.get(id)?.kill();
  }

  configureRenderers(changes: StoreChanges): void {
    this.#local.configureStores(this.#storesWith(changes));
  }

  /**
   * Kills all renderers after the connection is lost, because the lead can no longer count the tiles that they store.
   */
  killAll(): void {
    for (const process of this.#processes.values()) process.kill();
  }
}
