import { type Area, AreaIndex } from "./area.ts";
import { type TileList, TileListIndex } from "./tile-list.ts";
import type { TileSelection } from "./tile-selection.ts";

/** What a job is limited to, as it is kept with the job: the index is built from it alone. */
export type Selection = Area | TileList;

export function indexOf(selection: Selection): TileSelection {
  switch (selection.kind) {
    case "area":
      return new AreaIndex(selection);
    case "tiles":
      return new TileListIndex(selection);
  }
}
