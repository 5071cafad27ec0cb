import type { LayerName } from "../../layer/tile-set.ts";
import type { StoredSize } from "../../render/admission.ts";
import type { DiskSpace } from "../../store/tile-store.ts";
import { DiskSpaceMonitor, type DiskSpaceMonitorParts } from "./disk-space-monitor.ts";

/** The disks of several stores. */
export interface StoreDisks {
  /** Returns the disk that contains the tiles of a layer. */
  diskOf(layer: LayerName): string;
  spaceOf(disk: string): Promise<DiskSpace>;
  /** Whether there is only one store. */
  readonly isOne?: boolean;
}

/** Reports the free space on each disk that contains tiles. Stores on the same disk share its space. */
export class Disks {
  /** All disks as one, with the least free space of all. With one store, only this monitor is used. */
  readonly all: DiskSpaceMonitor;
  readonly #stores: StoreDisks | undefined;
  readonly #parts: Pick<DiskSpaceMonitorParts, "clock">;
  readonly #byDisk = new Map<string, DiskSpaceMonitor>();

  /** @param stores undefined if there is one store */
  constructor(parts: DiskSpaceMonitorParts, stores: StoreDisks | undefined) {
    this.all = new DiskSpaceMonitor(parts);
    this.#parts = parts;
    this.#stores = stores;
  }

  get #several(): StoreDisks | undefined {
    return this.#stores?.isOne === true ? undefined : this.#stores;
  }

  /** Returns the monitor of the disk that contains the tiles of a layer. */
  of(layer: LayerName): DiskSpaceMonitor {
    const stores = this.#several;
    if (stores === undefined) return this.all;
    const disk = stores.diskOf(layer);
    let monitor = this.#byDisk.get(disk);
    if (monitor === undefined) {
      monitor = new DiskSpaceMonitor({ ...this.#parts, read: () => stores.spaceOf(disk) });
      this.#byDisk.set(disk, monitor);
    }
    return monitor;
  }

  /** Records that tiles of a layer were stored. */
  wrote(layer: LayerName, size: StoredSize): void {
    this.all.wrote(size);
    if (this.#several !== undefined) this.of(layer).wrote(size);
  }

  /**
   * Returns a function that tells whether the tiles of another layer are on the same disk as the tiles of this layer.
   * Undefined if all tiles are on one disk.
   */
  sharing(layer: LayerName): ((other: LayerName) => boolean) | undefined {
    const stores = this.#several;
    if (stores === undefined) return undefined;
    const disk = stores.diskOf(layer);
    return (other) => stores.diskOf(other) === disk;
  }
}
