import type { GridSet, GridSetId } from "../grid/grid-set.ts";
import type { Layer } from "../layer/layer.ts";

/**
 * Returns the grid set with this id; undefined: no configured layer has it. For stores whose rows count from the top.
 */
export type GridSets = (id: GridSetId) => GridSet | undefined;

/** Returns the grid sets of layers, by id. */
export function gridSetsOf(layers: readonly Pick<Layer, "gridSubsets">[]): GridSets {
  const byId = new Map(layers.flatMap(({ gridSubsets }) => gridSubsets.map(({ gridSet }) => [gridSet.id, gridSet])));
  return (id) => byId.get(id);
}
