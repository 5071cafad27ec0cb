import type { Message } from "../../../lib/process/message.ts";
import { type MethodsOf, method } from "../../../lib/process/method-table.ts";
import type { RendererEnd } from "../../server/renderers/renderer-host.ts";
import type { StoreChanges } from "./store-changes.ts";

/** The methods of a node with which the lead uses renderers there. The lead numbers the renderers. */
export const RENDERER_HOST = {
  startRenderer: method<(id: number, nice: number) => void>("note"),
  /** Passes a message of the lead to a renderer. */
  toRenderer: method<(id: number, message: Message) => void>("note"),
  killRenderer: method<(id: number) => void>("note"),
  /** Replaces the stores of the renderers. Sent before the layers that use them. */
  configureRenderers: method<(changes: StoreChanges) => void>("note"),
};
export type RendererHostMethods = MethodsOf<typeof RENDERER_HOST>;

/** The methods of the lead with which a node reports on its renderers. */
export const RENDERER_REPORTS = {
  /** Passes a message of a renderer to the lead. */
  fromRenderer: method<(id: number, message: Message) => void>("note"),
  rendererEnded: method<(id: number, end: RendererEnd) => void>("note"),
};
export type RendererReportMethods = MethodsOf<typeof RENDERER_REPORTS>;
