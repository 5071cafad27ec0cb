import type { GridSetName } from "../grid/grid-set.ts";
import type { Catalogue } from "../layer/catalogue.ts";
import { parseParameters, parseTruncatedParameters } from "../layer/filter/parameter-filter.ts";
import { findSubset } from "../layer/layer.ts";
import type { LayerName } from "../layer/tile-set.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { pyramidKey, pyramidOf } from "../ledger/tile-sets/tile-set-record.ts";
import { verbatimParameters } from "../plan/plan-job.ts";
import type { InventoryStore, StoredPyramid } from "../store/inventory-store.ts";
import { StoreError, type TileStore } from "../store/tile-store.ts";
import type { MassTruncationRequest } from "./mass-truncation.ts";
import type { TruncationTarget } from "./recorded-truncation.ts";

export interface TruncationTargetSources {
  readonly ledger: Ledger;
  readonly store: Pick<InventoryStore, "pyramids"> & Pick<TileStore, "parametersOf">;
  readonly catalogue: () => Catalogue;
}

/**
 * Returns the targets of a mass truncation. An orphan is a pyramid that the layer's configuration can no longer reach.
 */
export function truncationTargets(
  request: MassTruncationRequest,
  from: TruncationTargetSources,
): readonly TruncationTarget[] {
  const { layer } = request;
  switch (request.type) {
    case "truncateLayer":
      return [{ kind: "layer", layer }];
    case "truncateParameters":
      return pyramids(layer, withParameters(layer, request.parameters, from), from);
    case "truncateOrphans":
      return pyramids(layer, isOrphan(layer, from), from);
  }
}

/** Returns the target of all tiles of a grid set of a layer. */
export const gridSetTargets = (
  layer: LayerName,
  gridSet: GridSetName,
  from: TruncationTargetSources,
): readonly TruncationTarget[] => pyramids(layer, (pyramid) => pyramid.gridSet === gridSet, from);

const pyramids = (
  layer: LayerName,
  isChosen: (pyramid: StoredPyramid) => boolean,
  from: TruncationTargetSources,
): readonly TruncationTarget[] =>
  pyramidsOf(layer, from)
    .filter(isChosen)
    .map((pyramid) => ({ kind: "pyramid", pyramid }));

function withParameters(
  layer: LayerName,
  values: Readonly<Record<string, string>>,
  { catalogue }: TruncationTargetSources,
): (pyramid: StoredPyramid) => boolean {
  const given = new Map(Object.entries(values));
  const filters = catalogue().layers.get(layer)?.parameterFilters ?? [];
  const parsed = parseTruncatedParameters(filters, given);
  // The combination of all defaults has the empty id, so the parsed id counts too.
  const ids = new Set([verbatimParameters(given).id, ...(parsed.ok ? [parsed.value.id] : [])]);
  return ({ parametersId }) => ids.has(parametersId);
}

function isOrphan(
  layer: LayerName,
  { store, catalogue }: TruncationTargetSources,
): (pyramid: StoredPyramid) => boolean {
  const configured = catalogue().layers.get(layer);
  if (configured === undefined) return () => false;
  return ({ gridSet, parametersId }) => {
    if (findSubset(configured, gridSet) === undefined) return true;
    if (parametersId === "") return false;
    const values = store.parametersOf(layer, parametersId);
    if (values === undefined) return configured.parameterFilters.length === 0;
    const parsed = parseParameters(configured.parameterFilters, new Map(Object.entries(values)), "refuse");
    return !parsed.ok || parsed.value.id !== parametersId;
  };
}

/** Returns the pyramids of a layer in the store or the ledger, configured or not. */
export function pyramidsOf(layer: LayerName, { ledger, store, catalogue }: TruncationTargetSources): StoredPyramid[] {
  const recorded = recordedPyramidsOf(layer, ledger);
  const configured = catalogue().layers.get(layer)?.gridSubsets ?? [];
  const known = new Set([...configured.map((subset) => subset.gridSet.id), ...recorded.map((t) => t.gridSet)]);
  const found = new Map<string, StoredPyramid>();
  for (const { gridSet, parametersId } of [...store.pyramids(layer, [...known]), ...recorded])
    found.set(`${gridSet}\n${parametersId}`, { layer, gridSet, parametersId });
  return [...found.values()];
}

/**
 * Returns the result of `pyramidsOf`, or the pyramids in the ledger if the store is unavailable. A truncation of a
 * whole layer does not need the list of its pyramids.
 */
export function truncatedPyramids(layer: LayerName, from: TruncationTargetSources): StoredPyramid[] {
  try {
    return pyramidsOf(layer, from);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return recordedPyramidsOf(layer, from.ledger);
  }
}

function recordedPyramidsOf(layer: LayerName, ledger: Ledger): StoredPyramid[] {
  const found = new Map<string, StoredPyramid>();
  for (const { tileSet } of ledger.tileSets())
    if (tileSet.layer === layer) found.set(pyramidKey(tileSet), pyramidOf(tileSet));
  return [...found.values()];
}
