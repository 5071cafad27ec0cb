import type { Message } from "../../../lib/process/channel.ts";
import type { RendererEnd } from "../../server/renderers/renderer-host.ts";
import type { StoreChanges } from "./store-changes.ts";

/** The methods of a node with which the lead uses renderers there. The lead numbers the renderers. */
export interface RendererHostMethods {
  startRenderer(id: number, nice: number): void;
  /** Passes a message of the lead to a renderer. */
  toRenderer(id: number, message: Message): void;
  killRenderer(id: number): void;
  /** Replaces the stores of the renderers. Sent before the layers that use them. */
  configureRenderers(changes: StoreChanges): void;
}

/** The methods of the lead with which a node reports on its renderers. */
export interface RendererReportMethods {
  /** Passes a message of a renderer to the lead. */
  fromRenderer(id: number, message: Message): void;
  rendererEnded(id: number, end: RendererEnd): void;
}
