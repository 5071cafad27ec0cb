import { atOnce } from "../lib/process/slices.ts";
import { type Area, AreaIndex } from "./area.ts";
import { type RectList, RectListIndex } from "./rect-list.ts";
import { type TileList, TileListIndex } from "./tile-list.ts";
import type { TileSelection } from "./tile-selection.ts";

/** The tiles that a job is limited to, as stored with the job. The index is built from the selection alone. */
export type Selection = Area | TileList | RectList;

/** The name of a selection for clients. Rectangles are an area to them. */
export type SelectionLimit = "area" | "tiles";

export const limitOf = ({ kind }: Selection): SelectionLimit => (kind === "tiles" ? "tiles" : "area");

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
    case "rects":
      return RectListIndex.inSteps(selection);
  }
}
