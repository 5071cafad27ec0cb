import { atOnce } from "../lib/slices.ts";
import { type Area, AreaIndex } from "./area.ts";
import { type TileList, TileListIndex } from "./tile-list.ts";
import type { TileSelection } from "./tile-selection.ts";

/** What a job is limited to, as it is kept with the job: the index is built from it alone. */
export type Selection = Area | TileList;

export const indexOf = (selection: Selection): TileSelection => atOnce(indexInSteps(selection));

/** `indexOf` that pauses now and then: an area may have 250,000 corners. */
export function* indexInSteps(selection: Selection): Generator<undefined, TileSelection> {
  switch (selection.kind) {
    case "area":
      return yield* AreaIndex.inSteps(selection);
    case "tiles":
      return new TileListIndex(selection);
  }
}
