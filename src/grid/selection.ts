import { atOnce } from "../lib/slices.ts";
import { type Area, AreaIndex } from "./area.ts";
import { type TileList, TileListIndex } from "./tile-list.ts";
import type { TileSelection } from "./tile-selection.ts";

/** The tiles that a job is limited to, as stored with the job. The index is built from this alone. */
export type Selection = Area | TileList;

export const indexOf = (selection: Selection): TileSelection => atOnce(indexInSteps(selection));

/** Builds the index like `indexOf`, but yields now and then: an area may have 250,000 corners. */
export function* indexInSteps(selection: Selection): Generator<undefined, TileSelection> {
  switch (selection.kind) {
    case "area":
      return yield* AreaIndex.inSteps(selection);
    case "tiles":
      return yield* TileListIndex.inSteps(selection);
  }
}
