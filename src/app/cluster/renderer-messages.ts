import type { Message } from "../../lib/channel.ts";
import type { RendererEnd } from "../renderer-host.ts";
import type { StoreChanges } from "./store-changes.ts";

/** Methods of a node by which the lead uses renderers there. Renderers are numbered by the lead. */
export interface RendererHostMethods {
  startRenderer(id: number, nice: number): void;
  /** Passes a message of the lead to a renderer. */
  toRenderer(id: number, message: Message): void;
  killRenderer(id: number): void;
  /** Replaces the stores of the renderers, before the layers that use them. */
  configureRenderers(changes: StoreChanges): void;
}

/** Methods of the lead by which a node reports about its renderers. */
export interface RendererReportMethods {
  /** Passes a message of a renderer to the lead. */
  fromRenderer(id: number, message: Message): void;
  rendererEnded(id: number, end: RendererEnd): void;
}
