import type { Enforcer } from "../../quota/enforcer.ts";
import { GridSetPlaces } from "../../truncation/grid-set-places.ts";
import { LayerStores } from "../../truncation/layer-stores.ts";
import { MassTruncationService } from "../../truncation/mass-truncation-service.ts";
import { MassTruncationStore } from "../../truncation/mass-truncation-store.ts";
import { Reclaim } from "../../truncation/reclaim.ts";
import { LedgerTruncations } from "../../truncation/truncations.ts";
import type { BuildContext } from "../coordinator-parts.ts";
import { adoptedLayers } from "./build-ledger.ts";

export type TruncationParts = ReturnType<typeof buildTruncations>;

/**
 * Builds the truncations. Completes the truncations that the end of the last process interrupted, so that their tiles
 * are not counted or served.
 */
export function buildTruncations(context: BuildContext, enforcer: Pick<Enforcer, "cleanUp">) {
  const { db, store, ledger, renders, catalogue, adoption, log } = context;
  const ledgerTruncations = new LedgerTruncations(db, store, ledger, renders, log);
  context.state.completeBefore((layer) => {
    ledgerTruncations.interrupted.complete(layer);
    ledgerTruncations.completeOwed(layer);
  });
  context.stores?.whenOwed((layer, name) => ledgerTruncations.owe(layer, [name]));
  const reclaim = new Reclaim(context);
  const records = new MassTruncationStore(db);
  const service = new MassTruncationService({
    ...context,
    truncations: records,
    ledgerTruncations,
    reclaim,
    changed: (truncation) => context.publish({ kind: "truncation", truncation }),
    hasTilesOnDisk: (name) => {
      const layer = catalogue().layers.get(name);
      return layer?.tilesOnDisk !== undefined && layer.source.type !== "none";
    },
    restored: (pyramids) => {
      adoption.restored(pyramids);
      adoption.start(adoptedLayers(catalogue()));
      // The restored tiles may exceed a quota.
      void enforcer.cleanUp();
    },
  });
  const layerStores = new LayerStores({
    ...context,
    truncations: ledgerTruncations,
    locations: context.storeLocations ?? (() => new Map()),
    firstLocation: context.firstLocation,
    giveUp: (layer) => service.giveUp(layer),
  });
  const places = new GridSetPlaces(db, ledger);
  return { ledgerTruncations, reclaim, records, service, layerStores, places };
}
