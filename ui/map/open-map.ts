import { defaults } from "ol/interaction/defaults.js";
import OpenLayersMap from "ol/Map.js";
import { unByKey } from "ol/Observable.js";
import Projection from "ol/proj/Projection.js";
import View from "ol/View.js";
import { type Box, type GridSubset, nearestLevel, restingResolutions } from "./grid.ts";
import type { MapPosition, MapSurface } from "./map-surface.ts";
import { createOverlays } from "./overlays/overlays.ts";
import { Pictures } from "./pictures.ts";
import { createPointer } from "./pointer.ts";

/** The margin around a completely shown area, in CSS pixels. */
const PADDING = 8;
/** A browser has six connections to a server. Two are for events, and a slow upstream must leave one for requests. */
const MOST_TILES_LOADING = 3;

/**
 * Opens a map in the CRS of a grid set. The map needs no definition of the CRS, because the layer's grid gives the
 * extent of each tile.
 */
export function openMap(
  target: HTMLElement,
  subset: GridSubset,
  place?: Pick<MapPosition, "centre" | "resolution">,
): MapSurface {
  const view = createView(target, subset);
  const pictures = new Pictures(subset, view.getProjection());
  const { layers, ...overlays } = createOverlays(target, subset);
  const map = new OpenLayersMap({
    target,
    view,
    controls: [],
    interactions: defaults({ altShiftDragRotate: false, pinchRotate: false }),
    layers: [pictures.layer, ...layers],
    maxTilesLoading: MOST_TILES_LOADING,
  });
  // `aria-busy` tells screen readers and tests whether all pictures are shown.
  target.ariaBusy = "true";
  map.on("loadstart", () => (target.ariaBusy = "true"));
  map.on("rendercomplete", () => (target.ariaBusy = String(!hasTiles)));
  let hasTiles = false;
  const fitBox = (box: Box): void => view.fit([...box], { padding: [PADDING, PADDING, PADDING, PADDING] });
  const show: MapSurface["show"] = ({ centre, resolution }) => {
    view.setCenter([...centre]);
    view.setResolution(resolution);
  };
  if (place === undefined) fitBox(subset.bounds);
  else show(place);

  return {
    ...overlays,
    ...createPointer(map, target, subset),
    subset,
    position: () => positionOf(map, subset),
    fit: fitBox,
    show,
    zoom: (step) => view.adjustZoom(step),
    setTiles(tiles) {
      target.ariaBusy = "true";
      hasTiles = true;
      pictures.show(tiles);
      map.render();
    },
    refreshTiles: () => pictures.layer.getSource()?.refresh(),
    reveal: () => target.scrollIntoView({ block: "nearest" }),
    onMove(listener) {
      const key = map.on("moveend", () => listener(positionOf(map, subset)));
      return () => unByKey(key);
    },
    onTileError: (listener) => pictures.onError(listener),
    close() {
      pictures.close();
      map.setTarget(undefined);
    },
  };
}

/** Returns a view in the CRS of a grid set, at the coarsest of its resolutions. */
function createView({ clientWidth, clientHeight }: HTMLElement, subset: GridSubset): View {
  const resolutions = restingResolutions(subset, [
    Math.max(1, clientWidth - 2 * PADDING),
    Math.max(1, clientHeight - 2 * PADDING),
  ]);
  const [minX, minY, maxX, maxY] = subset.bounds;
  return new View({
    projection: new Projection({
      code: `EPSG:${subset.srs}`,
      units: subset.metersPerUnit > 1000 ? "degrees" : "m",
      metersPerUnit: subset.metersPerUnit,
      extent: [...subset.extent],
    }),
    resolutions: [...resolutions],
    constrainResolution: true,
    enableRotation: false,
    center: [(minX + maxX) / 2, (minY + maxY) / 2],
    resolution: resolutions[0] ?? 1,
  });
}

function positionOf(map: OpenLayersMap, subset: GridSubset): MapPosition {
  const view = map.getView();
  const [x = 0, y = 0] = view.getCenter() ?? [];
  const resolution = view.getResolution() ?? 1;
  const [minX = x, minY = y, maxX = x, maxY = y] = view.calculateExtent(map.getSize());
  return { centre: [x, y], resolution, z: nearestLevel(subset, resolution), box: [minX, minY, maxX, maxY] };
}
