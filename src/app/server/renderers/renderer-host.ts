import type { Port } from "../../../lib/process/message.ts";
import type { StoreOptions } from "../../../store/store-options.ts";

/** How a renderer process has ended. */
export type RendererEnd =
  | { readonly kind: "exited"; readonly code: number | null; readonly signal: string | null }
  | { readonly kind: "not_started"; readonly error: string }
  /**
   * The connection to the renderer's machine is lost. The renderer may still begin to store tiles for this time, ms.
   */
  | { readonly kind: "unreachable"; readonly mayStoreMs: number };

/** A renderer process, on this machine or on another. */
export interface RendererProcess {
  /** Carries the calls of `RendererMethods` and `RendererNotes`. */
  readonly port: Port;
  /** Undefined if the process is on another machine, or was not started. */
  readonly pid: number | undefined;
  /** Ends the process at once. Does nothing if the process has ended. */
  kill(): void;
}

/** A machine that runs renderers. Every implementation passes `renderer-host.conformance.ts`. */
export interface RendererHost {
  /** The name of the node. Undefined without a cluster. */
  readonly node: string | undefined;
  /** The most renderers that the machine runs at once for users. It runs as many for jobs. */
  readonly most: number;
  /**
   * Starts a renderer, which opens the stores of its machine. The caller then sends it the layers. Messages arrive in
   * the order in which they are sent.
   * @param ended called once
   */
  start(nice: number, ended: (end: RendererEnd) => void): RendererProcess;
  /** Replaces the stores. The renderers use them from the next `configure` on. */
  configureStores(stores: readonly StoreOptions[]): void;
}
