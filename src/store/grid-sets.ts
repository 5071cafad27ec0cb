import type { GridSet, GridSetName } from "../grid/grid-set.ts";
import type { Layer } from "../layer/layer.ts";

/**
 * Returns the grid set with this id, for stores whose rows count from the top. Undefined if no configured layer uses
 * it.
 */
export type GridSets = (id: GridSetName) => GridSet | undefined;

/** Returns the grid sets of layers by id. Collects them at the first use, because most stores never need them. */
export function gridSetsOf(layers: readonly Pick<Layer, "gridSubsets">[]): GridSets {
  let byId: ReadonlyMap<GridSetName, GridSet> | undefined;
  return (id) => {
    byId ??= new Map(
      layers.flatMap(({ gridSubsets }) => gridSubsets.map(({ gridSet }) => [gridSet.id, gridSet] as const)),
    );
    return byId.get(id);
  };
}
