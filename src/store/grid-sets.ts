import type { GridSet, GridSetId } from "../grid/grid-set.ts";
import type { Layer } from "../layer/layer.ts";

/**
 * Returns the grid set with this id; undefined: no configured layer has it. For stores whose rows count from the top.
 */
export type GridSets = (id: GridSetId) => GridSet | undefined;

/** Returns the grid sets of layers, by id. They are collected with the first use: most stores need none. */
export function gridSetsOf(layers: readonly Pick<Layer, "gridSubsets">[]): GridSets {
  let byId: ReadonlyMap<GridSetId, GridSet> | undefined;
  return (id) => {
    byId ??= new Map(
      layers.flatMap(({ gridSubsets }) => gridSubsets.map(({ gridSet }) => [gridSet.id, gridSet] as const)),
    );
    return byId.get(id);
  };
}
