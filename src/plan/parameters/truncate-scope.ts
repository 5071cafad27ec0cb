import { type GridSetName, matrixRect, rectCount, type TileRect } from "../../grid/grid-set.ts";
import { findSubset, type Layer } from "../../layer/layer.ts";
import type { ParametersId } from "../../layer/tile-set.ts";
import type { TileStore } from "../../store/tile-store.ts";
import type { JobRequest } from "../job/job-request.ts";
import { chooser } from "./value-choice.ts";

/**
 * Returns whether a truncate of stored combinations selects the combination of a parameters id. The store has the
 * values of the id.
 */
export function selectsStored(
  { layer: name, parametersChosen }: Pick<JobRequest, "layer" | "parametersChosen">,
  layer: Layer | undefined,
  store: Pick<TileStore, "parametersOf">,
): (parametersId: ParametersId) => boolean {
  if (parametersChosen === undefined) return () => true;
  const isChosen = chooser(
    parametersChosen.map((set) => new Map(set)),
    layer?.parameterFilters ?? [],
  );
  return (id) => {
    const values = id === "" ? {} : store.parametersOf(name, id);
    return values !== undefined && isChosen(values);
  };
}

/** Returns whether a truncate removes all tiles of a level. */
export function coversLevel(
  { bounds, hasSelection }: { readonly bounds: JobRequest["bounds"]; readonly hasSelection: boolean },
  layer: Layer | undefined,
  gridSet: GridSetName,
  rect: TileRect,
): boolean {
  if (hasSelection) return false;
  const subset = layer && findSubset(layer, gridSet);
  return bounds === null || (subset !== undefined && rectCount(matrixRect(subset.gridSet, rect.z)) === rectCount(rect));
}
