import type { Logger } from "../../lib/process/logger.ts";
import type { DiskSpace } from "../../store/tile-store.ts";

/** The disk or the quota is nearly full if at most this share is left. */
const LEAST_LEFT = 0.05;

/** Returns whether at most a twentieth of a whole is left. */
export const isNearlyFull = ({ left, whole }: { readonly left: number; readonly whole: number }): boolean =>
  whole > 0 && left <= LEAST_LEFT * whole;

/** Logs when the disk of the tiles becomes nearly full, and when it has space again. */
export class DiskFullLog {
  readonly #log: Logger;
  #wasNearlyFull = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  /**
   * Logs a change.
   * @param space undefined if the file system does not answer
   */
  look(space: DiskSpace | undefined): void {
    if (space === undefined) return;
    const { freeBytes, totalBytes, freeInodes, totalInodes } = space;
    const inodes = Number.isFinite(totalInodes) ? { freeInodes, totalInodes } : {};
    const nearlyFull =
      isNearlyFull({ left: freeBytes, whole: totalBytes }) ||
      (Number.isFinite(totalInodes) && isNearlyFull({ left: freeInodes, whole: totalInodes }));
    if (nearlyFull === this.#wasNearlyFull) return;
    this.#wasNearlyFull = nearlyFull;
    const fields = { freeBytes, totalBytes, ...inodes };
    if (nearlyFull) this.#log.warn("the disk of the tiles is nearly full", fields);
    else this.#log.info("the disk of the tiles has space again", fields);
  }
}
