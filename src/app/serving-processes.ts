import type { Configuration } from "../config/configuration.ts";
import type { Readiness } from "../http/readiness.ts";
import type { JobEvent } from "../plan/job-request.ts";
import type { MemoryTiles } from "../render/memory-tiles.ts";
import type { ServingMetrics } from "./process-methods.ts";

/** The process, or the processes, that answer HTTP. */
export interface ServingProcesses extends MemoryTiles {
  /**
   * Listens on the address.
   * @throws Error when the address is not available
   */
  listen(host: string, port: number): Promise<{ readonly port: number }>;
  publish(event: JobEvent): void;
  metrics(): Promise<ServingMetrics>;
  configure(configuration: Configuration): Promise<void>;
  ready(readiness: Readiness): Promise<void> | void;
  close(graceMs: number): Promise<void>;
}

/**
 * The memory tiers of the serving processes, which are built later than the renders: the processes forward to the
 * renders what their memory tiers miss.
 */
export class AttachedMemoryTiles implements MemoryTiles {
  #tiers: MemoryTiles | undefined;

  /** Called once. Until then no memory tier holds a tile. */
  attach(tiers: MemoryTiles): void {
    this.#tiers = tiers;
  }

  clear(layer: string): void {
    this.#tiers?.clear(layer);
  }

  remove(keys: readonly string[]): void {
    this.#tiers?.remove(keys);
  }

  expireBefore(layer: string, beforeMs: number): void {
    this.#tiers?.expireBefore(layer, beforeMs);
  }
}
