import { atOnce } from "../lib/process/slices.ts";
import { type Area, AreaIndex } from "./area.ts";
import { type TileList, TileListIndex } from "./tile-list.ts";
import type { TileSelection } from "./tile-selection.ts";

/** The tiles that a job is limited to, as stored with the job. The index is built from the selection alone. */
export type Selection = Area | TileList;

/** The built indices. Jobs, counts and retries share an index as long as its selection is in use. */
const built = new WeakMap<Selection, TileSelection>();

export const indexOf = (selection: Selection): TileSelection => atOnce(indexInSteps(selection));

/** Builds the index like `indexOf`, but yields regularly, because an area may have 250,000 corners. */
export function* indexInSteps(selection: Selection): Generator<undefined, TileSelection> {
  const known = built.get(selection);
  if (known !== undefined) return known;
  const index = yield* newIndex(selection);
  built.set(selection, index);
  return index;
}

function newIndex(selection: Selection): Generator<undefined, TileSelection> {
  switch (selection.kind) {
    case "area":
      return AreaIndex.inSteps(selection);
    case "tiles":
      return TileListIndex.inSteps(selection);
  }
}
