import { cornersOf } from "../grid/area.ts";
import type { Selection } from "../grid/selection.ts";
import type { AreaView } from "../plan/job-request.ts";

/** Returns the area that limits a job as GeoJSON. Null: no area. */
export function areaView(selection: Selection | undefined): AreaView | null {
  if (selection?.kind !== "area") return null;
  return {
    type: "MultiPolygon",
    coordinates: selection.polygons.map((polygon) =>
      polygon.map((ring) => {
        const corners = cornersOf(ring);
        return [...corners, ...corners.slice(0, 1)];
      }),
    ),
  };
}
