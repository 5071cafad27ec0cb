import type { Port } from "../lib/channel.ts";

/** How a renderer process has ended. */
export type RendererEnd =
  | { readonly kind: "exited"; readonly code: number | null; readonly signal: string | null }
  | { readonly kind: "not_started"; readonly error: string }
  /** The connection to its machine is lost. It may still begin to store tiles for this time, in ms. */
  | { readonly kind: "unreachable"; readonly mayStoreMs: number };

/** A renderer process, on this machine or on another. */
export interface RendererProcess {
  /** Carries the calls of `RendererMethods` and `RendererNotes`. */
  readonly port: Port;
  /** Undefined: the process is on another machine, or was not started. */
  readonly pid: number | undefined;
  /** Ends the process at once. */
  kill(): void;
}

/** A machine that renderers run on. */
export interface RendererHost {
  /** The node of a cluster; undefined: the server is alone. */
  readonly node: string | undefined;
  /** The renderers that it runs at once, for users and as many for jobs. */
  readonly most: number;
  /**
   * Starts a renderer that opens the stores of its machine. The caller sends the layers.
   * @param ended called once
   */
  start(nice: number, ended: (end: RendererEnd) => void): RendererProcess;
}
