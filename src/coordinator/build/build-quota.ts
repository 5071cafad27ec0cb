import { RepeatedLog } from "../../lib/process/repeated-log.ts";
import { QuotaStore } from "../../quota/configuration/quota-store.ts";
import { Disks } from "../../quota/disk/disks.ts";
import { Enforcer } from "../../quota/enforcer.ts";
import { EvictedCells } from "../../quota/evicted-cells.ts";
import { Eviction } from "../../quota/eviction.ts";
import { type Reservation, Reservations } from "../../quota/reservations.ts";
import { UsageTrend } from "../../quota/usage-trend.ts";
import type { Admission, StoredSize } from "../../render/admission.ts";
import type { BuildContext } from "../coordinator-parts.ts";
import { UserWrites } from "../user-writes.ts";

export type QuotaParts = ReturnType<typeof buildQuota>;

/** Builds the quota. Jobs and truncations are attached to the enforcer later. */
export function buildQuota(context: BuildContext) {
  const { db, store, renders, eviction: options, catalogue, initialQuota, quotaFile, state, clock } = context;
  const quota = new QuotaStore(db, initialQuota(), quotaFile?.read(catalogue().layers));
  const reservations = new Reservations();
  const evictedCells = new EvictedCells(clock.now);
  const disks = new Disks({ read: () => store.diskSpace(), clock }, context.stores);
  const enforcer = new Enforcer({
    ...context,
    reservations,
    eviction: new Eviction({
      ...context,
      options,
      evicted(cell) {
        evictedCells.add(cell);
        renders.evicted(cell.tileSet, cell.rect);
      },
    }),
    disks,
    configuration: () => quota.current,
    options,
  });
  /** Adds to a reservation, after evicting tiles that exceed the quota. Never rejects. */
  const admit = async (reservation: Reservation, size: StoredSize): Promise<Admission> => {
    try {
      return await enforcer.reserve(reservation, size);
    } catch (error) {
      state.fault(error);
      return { kind: "disk_full", reason: "the state database cannot be written" };
    }
  };
  return {
    quota,
    disks,
    reservations,
    enforcer,
    evictedCells,
    admit,
    trend: new UsageTrend(db),
  };
}

/** Builds the accounting of the tiles that renderers write. */
export function buildUserWrites(context: BuildContext, quota: QuotaParts): UserWrites {
  const { log, closing } = context;
  const storeFaults = new RepeatedLog((fields) => log.error("rendered tiles cannot be stored", fields));
  closing.addEventListener("abort", () => storeFaults.close(), { once: true });
  return new UserWrites({
    ...context,
    ...quota,
    storeFault: (layer, reason) => storeFaults.add(layer, { layer, reason }),
  });
}
