import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { DiskTier } from "../../cache/tiers/disk-tier.ts";
import type { StoreTierView } from "../../cache/tiers/disk-tier-view.ts";
import type { Configuration } from "../../configuration/configuration.ts";
import type { Layer } from "../../layer/layer.ts";
import type { LayerName } from "../../layer/tile-set.ts";
import { codeOf } from "../../lib/error-code.ts";
import { fileFault } from "../../lib/file/file-fault.ts";
import type { Machine } from "../../lib/machine.ts";
import type { Logger } from "../../lib/process/logger.ts";
import { RepeatedLog } from "../../lib/process/repeated-log.ts";
import { isRemote } from "../../store/store-options.ts";

/** The disk tiers of one serving process, one for each store with a configured disk tier. */
export class DiskTiers {
  readonly #tiers: ReadonlyMap<string, DiskTier>;
  readonly #firstStore: string | undefined;
  readonly #faults: RepeatedLog;
  #byLayer: ReadonlyMap<string, DiskTier> = new Map();

  constructor(
    { stores, layers, server }: Configuration,
    { clock, disk }: Pick<Machine, "clock" | "disk">,
    log: Logger,
  ) {
    this.#faults = new RepeatedLog((fields) => log.warn("the disk tier of a store has failed", fields));
    this.#firstStore = stores[0]?.id;
    const tiers = new Map<string, DiskTier>();
    for (const store of stores) {
      if (!isRemote(store) || store.diskTier === undefined) continue;
      const { path, limitBytes } = store.diskTier;
      const failed = (error: unknown): void =>
        this.#faults.add(store.id, {
          store: store.id,
          path,
          reason: codeOf(error) === "" ? String(error) : fileFault(error),
        });
      const tier = new DiskTier({
        directory: join(path, String(process.pid)),
        limitBytes: Math.floor(limitBytes / server.workers),
        failed,
        disk,
        clock,
      });
      tiers.set(store.id, tier);
      void removeAbandoned(path)
        .catch(failed)
        .then(() => tier.prepare());
    }
    this.#tiers = tiers;
    this.configure(layers);
  }

  /** Applies the stores of changed layers. */
  configure(layers: readonly Pick<Layer, "name" | "store">[]): void {
    this.#byLayer = new Map(
      layers.flatMap(({ name, store }) => {
        const tier = this.#tiers.get(store ?? this.#firstStore ?? "");
        return tier === undefined ? [] : [[name, tier] as const];
      }),
    );
  }

  /** Returns the disk tier of a layer's store. Undefined if the store has no disk tier. */
  of(layer: LayerName): DiskTier | undefined {
    return this.#byLayer.get(layer);
  }

  /** Removes tiles by their `tileKey`. */
  remove(keys: readonly string[]): void {
    for (const tier of this.#tiers.values()) tier.remove(keys);
  }

  view(): readonly StoreTierView[] {
    return [...this.#tiers].map(([store, tier]) => ({ store, ...tier.view() }));
  }

  async close(): Promise<void> {
    for (const tier of this.#tiers.values()) await tier.idle();
    this.#faults.close();
  }
}

/** Removes the directories of processes that have ended. A directory is named after the id of its process. */
async function removeAbandoned(path: string): Promise<void> {
  const names = await readdir(path).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  });
  for (const name of names)
    if (/^\d{1,10}$/.test(name) && !isAlive(Number(name))) await rm(join(path, name), { recursive: true, force: true });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM means that the process exists and has another user.
    return codeOf(error) !== "ESRCH";
  }
}
