import { always } from "ol/events/condition.js";
import Polygon, { fromExtent } from "ol/geom/Polygon.js";
import DragBox from "ol/interaction/DragBox.js";
import Draw from "ol/interaction/Draw.js";
import type OpenLayersMap from "ol/Map.js";
import type { DrawnShape, Polygons } from "./map-surface.ts";

/** Lets the user draw a shape on a map. Undefined if `signal` fires before the shape is complete. */
export function draw(map: OpenLayersMap, shape: DrawnShape, signal: AbortSignal): Promise<Polygons | undefined> {
  const dragBox = new DragBox({ condition: always, className: "drawn-box" });
  const polygon = new Draw({ type: "Polygon", stopClick: true });
  const interaction = shape === "box" ? dragBox : polygon;
  return new Promise((resolve) => {
    const end = (geometry: Polygon | undefined): void => {
      map.removeInteraction(interaction);
      signal.removeEventListener("abort", cancel);
      resolve(geometry === undefined ? undefined : [ringsOf(geometry)]);
    };
    const cancel = (): void => end(undefined);
    signal.addEventListener("abort", cancel);
    dragBox.on("boxend", () => end(fromExtent(dragBox.getGeometry().getExtent())));
    polygon.on("drawend", ({ feature }) => {
      const geometry = feature.getGeometry();
      end(geometry instanceof Polygon ? geometry : undefined);
    });
    map.addInteraction(interaction);
  });
}

const ringsOf = (polygon: Polygon): Polygons[number] =>
  polygon.getCoordinates().map((ring) => ring.map(([x = 0, y = 0]): readonly [number, number] => [x, y]));
