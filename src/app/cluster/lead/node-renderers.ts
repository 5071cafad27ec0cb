import { MALFORMED } from "../../../lib/process/channel.ts";
import { isMessage, type Message } from "../../../lib/process/message.ts";
import type { StoreOptions } from "../../../store/store-options.ts";
import type { RendererEnd, RendererHost, RendererProcess } from "../../server/renderers/renderer-host.ts";
import type { RendererHostMethods, RendererReportMethods } from "../link/renderer-messages.ts";
import type { StoreChanges } from "../link/store-changes.ts";

interface Remote {
  receive: ((message: Message) => void) | undefined;
  readonly ended: (end: RendererEnd) => void;
}

/** The renderers of another node. Their messages go through the connection of the node. */
export class NodeRenderers implements RendererHost, RendererReportMethods {
  readonly node: string;
  readonly most: number;
  readonly #remote: RendererHostMethods;
  readonly #remotes = new Map<number, Remote>();
  #next = 1;

  readonly #changesOf: (stores: readonly StoreOptions[]) => StoreChanges;

  constructor(
    { name, renderers }: { readonly name: string; readonly renderers: number },
    remote: RendererHostMethods,
    /** Returns the stores in the form that the node gets. */
    changesOf: (stores: readonly StoreOptions[]) => StoreChanges,
  ) {
    this.node = name;
    this.most = renderers;
    this.#remote = remote;
    this.#changesOf = changesOf;
  }

  start(nice: number, ended: (end: RendererEnd) => void): RendererProcess {
    const id = this.#next++;
    const remote: Remote = { receive: undefined, ended };
    this.#remotes.set(id, remote);
    this.#remote.startRenderer(id, nice);
    return {
      port: {
        postMessage: (message) => this.#remote.toRenderer(id, message),
        on: (_, listener) => {
          remote.receive = listener;
        },
      },
      pid: undefined,
      kill: () => this.#remote.killRenderer(id),
    };
  }

  configureStores(stores: readonly StoreOptions[]): void {
    this.#remote.configureRenderers(this.#changesOf(stores));
  }

  /** @throws Error if the node has passed on a malformed message */
  fromRenderer(id: number, message: Message): void {
    if (!isMessage(message)) throw Object.assign(new Error("a renderer has sent no message"), { code: MALFORMED });
    this.#remotes.get(id)?.receive?.(message);
  }

  rendererEnded(id: number, end: RendererEnd): void {
    const remote = this.#remotes.get(id);
    this.#remotes.delete(id);
    remote?.ended(end);
  }

  /** Called when the connection to the node is lost. Its renderers may begin to store tiles for `mayStoreMs` ms. */
  lost(mayStoreMs: number): void {
    for (const id of [...this.#remotes.keys()]) this.rendererEnded(id, { kind: "unreachable", mayStoreMs });
  }
}
