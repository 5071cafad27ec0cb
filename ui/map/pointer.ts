import type OpenLayersMap from "ol/Map.js";
import { unByKey } from "ol/Observable.js";
import { type GridSubset, nearestLevel, tileAt } from "./grid.ts";
import type { MapPointer, MapSurface } from "./map-surface.ts";

/** Reports the pointer on a map and its clicks, and lets the user draw. */
export function createPointer(
  map: OpenLayersMap,
  target: HTMLElement,
  subset: GridSubset,
): Pick<MapSurface, "onPointer" | "onClick" | "draw"> {
  let isDrawing = false;
  const pointerAt = ([x = 0, y = 0]: readonly number[]): MapPointer => ({
    at: [x, y],
    tile: tileAt(subset, nearestLevel(subset, map.getView().getResolution() ?? 1), [x, y]),
  });
  return {
    onPointer(listener) {
      const key = map.on("pointermove", ({ coordinate, dragging }) => dragging || listener(pointerAt(coordinate)));
      const leave = (): void => listener(undefined);
      target.addEventListener("pointerleave", leave);
      return () => {
        unByKey(key);
        target.removeEventListener("pointerleave", leave);
      };
    },
    onClick(listener) {
      const key = map.on("click", ({ coordinate }) => isDrawing || listener(pointerAt(coordinate)));
      return () => unByKey(key);
    },
    async draw(shape, signal) {
      isDrawing = true;
      try {
        // Most maps do not need the interactions, which are a quarter of the library.
        const { draw } = await import("./draw.ts");
        return signal.aborted ? undefined : await draw(map, shape, signal);
      } finally {
        // The click that ends a shape is not a click on a tile.
        setTimeout(() => (isDrawing = false));
      }
    },
  };
}
