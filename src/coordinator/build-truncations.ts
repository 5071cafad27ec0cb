import type { Adoption } from "../ledger/adoption.ts";
import type { Enforcer } from "../quota/enforcer.ts";
import { MassTruncationService } from "../truncation/mass-truncation-service.ts";
import { MassTruncationStore } from "../truncation/mass-truncation-store.ts";
import type { Reclaim } from "../truncation/reclaim.ts";
import type { LedgerTruncations } from "../truncation/truncations.ts";
import { adoptedLayers } from "./adopted-layers.ts";
import type { BuildContext } from "./coordinator-parts.ts";

export interface TruncationServiceParts {
  readonly ledgerTruncations: LedgerTruncations;
  readonly reclaim: Reclaim;
  readonly adoption: Adoption;
  readonly enforcer: Enforcer;
}

/** Mass truncations, and their records. */
export interface TruncationParts {
  readonly truncations: MassTruncationService;
  readonly records: MassTruncationStore;
}

/** Builds the mass truncations. Completes those that the end of the last process interrupted. */
export function buildTruncations(context: BuildContext, parts: TruncationServiceParts): TruncationParts {
  const { db, store, ledger, gate, catalogue, undoSeconds, now, monotonicNow, log, closing } = context;
  const { ledgerTruncations, reclaim, adoption, enforcer } = parts;
  const records = new MassTruncationStore(db);
  const truncations = new MassTruncationService({
    db,
    store,
    ledger,
    catalogue,
    truncations: records,
    ledgerTruncations,
    gate,
    undoSeconds,
    sweep: () => reclaim.sweep(),
    restored: (pyramids) => {
      adoption.restored(pyramids);
      adoption.start(adoptedLayers(catalogue()));
      // The restored tiles may exceed a quota.
      void enforcer.cleanUp();
    },
    now,
    monotonicNow,
    log,
    closing,
  });
  return { truncations, records };
}
