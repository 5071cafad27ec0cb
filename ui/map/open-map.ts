import { defaults } from "ol/interaction/defaults.js";
import Layer from "ol/layer/Layer.js";
import TileLayer from "ol/layer/Tile.js";
import OpenLayersMap from "ol/Map.js";
import { unByKey } from "ol/Observable.js";
import Projection from "ol/proj/Projection.js";
import ImageTile from "ol/source/ImageTile.js";
import TileGrid from "ol/tilegrid/TileGrid.js";
import View from "ol/View.js";
import { type Box, type GridSubset, isOffered, nearestLevel, restingResolutions, tileAddress, tileAt } from "./grid.ts";
import type { MapPointer, MapPosition, MapSurface, ShownTiles } from "./map-surface.ts";
import { areaPainter } from "./paint/area.ts";
import { bordersPainter, boundsPainter, markPainter } from "./paint/borders.ts";
import type { Painter } from "./paint/painter.ts";
import { squaresPainter } from "./paint/squares.ts";

/** The most CSS pixels that a picture of the first level is shrunk to: beyond it, a view would ask for too many. */
const MOST_SHRUNK = 8;
/** The margin in CSS pixels around an area that is shown as a whole. */
const PADDING = 8;
/** A browser has six connections to a server. Two carry events, and a slow upstream must leave one for requests. */
const MOST_TILES_LOADING = 3;

/**
 * Opens a map in the CRS of a grid set. The map needs no definition of the CRS: the grid of the layer gives the extent
 * of each tile.
 */
export function openMap(
  target: HTMLElement,
  subset: GridSubset,
  place?: Pick<MapPosition, "centre" | "resolution">,
): MapSurface {
  const projection = new Projection({
    code: `EPSG:${subset.srs}`,
    units: subset.metersPerUnit > 1000 ? "degrees" : "m",
    metersPerUnit: subset.metersPerUnit,
    extent: [...subset.extent],
  });
  const size = [Math.max(1, target.clientWidth - 2 * PADDING), Math.max(1, target.clientHeight - 2 * PADDING)] as const;
  const resolutions = restingResolutions(subset, size);
  const [minX, minY, maxX, maxY] = subset.bounds;
  const view = new View({
    projection,
    resolutions: [...resolutions],
    constrainResolution: true,
    enableRotation: false,
    center: [(minX + maxX) / 2, (minY + maxY) / 2],
    resolution: resolutions[0] ?? 1,
  });
  const pictures = new TileLayer<ImageTile>({
    maxResolution: (subset.levels[subset.zoomStart]?.resolution ?? 1) * MOST_SHRUNK * 1.01,
  });
  const overlays = {
    bounds: canvasLayer(target, boundsPainter(subset)),
    squares: canvasLayer(target),
    drawing: canvasLayer(target, undefined, "pulse"),
    borders: canvasLayer(target),
    area: canvasLayer(target),
    mark: canvasLayer(target),
  };
  const map = new OpenLayersMap({
    target,
    view,
    controls: [],
    interactions: defaults({ altShiftDragRotate: false, pinchRotate: false }),
    layers: [pictures, ...Object.values(overlays).map(({ layer }) => layer)],
    maxTilesLoading: MOST_TILES_LOADING,
  });
  // Screen readers and tests read from `aria-busy` whether all pictures are shown.
  target.ariaBusy = "true";
  map.on("loadstart", () => (target.ariaBusy = "true"));
  map.on("rendercomplete", () => (target.ariaBusy = String(!hasTiles)));
  let hasTiles = false;
  /** Ends the requests for the tiles of the source: a slow upstream would keep the browser's connections for long. */
  let stopTiles = new AbortController();
  let isDrawing = false;
  const tileErrors = new Set<() => void>();

  const pointerAt = ([x = 0, y = 0]: readonly number[]): MapPointer => ({
    at: [x, y],
    tile: tileAt(subset, nearestLevel(subset, view.getResolution() ?? 1), [x, y]),
  });
  const fitBox = (box: Box): void => view.fit([...box], { padding: [PADDING, PADDING, PADDING, PADDING] });
  const show: MapSurface["show"] = ({ centre, resolution }) => {
    view.setCenter([...centre]);
    view.setResolution(resolution);
  };
  if (place === undefined) fitBox(subset.bounds);
  else show(place);

  return {
    subset,
    position: () => positionOf(map, view, subset),
    fit: fitBox,
    show,
    zoom: (step) => view.adjustZoom(step),
    setTiles(tiles) {
      stopTiles.abort();
      stopTiles = new AbortController();
      const { signal } = stopTiles;
      const source = tiles === undefined ? null : tileSource(subset, projection, tiles, signal);
      source?.on("tileloaderror", () => {
        // OpenLayers reports the requests that were ended as errors too.
        if (signal.aborted) return;
        for (const listener of tileErrors) listener();
      });
      target.ariaBusy = "true";
      hasTiles = true;
      pictures.setSource(source);
      map.render();
    },
    refreshTiles: () => pictures.getSource()?.refresh(),
    setBorders: (isShown) => overlays.borders.paint(isShown ? bordersPainter(subset) : undefined),
    setSquares(squares) {
      overlays.squares.paint(squares && squaresPainter(subset, squares, ["kept", "stale", "failed", "evicted"]));
      overlays.drawing.paint(squares && squaresPainter(subset, squares, ["drawing"]));
    },
    setArea: (area) => overlays.area.paint(area && areaPainter(area)),
    setMark: (tile) => overlays.mark.paint(tile && markPainter(subset, tile)),
    async draw(shape, signal) {
      isDrawing = true;
      try {
        // The interactions are a quarter of the library: most maps need none.
        const { draw } = await import("./draw.ts");
        return signal.aborted ? undefined : await draw(map, shape, signal);
      } finally {
        // The click that ends a shape is no click on a tile.
        setTimeout(() => (isDrawing = false));
      }
    },
    reveal: () => target.scrollIntoView({ block: "nearest" }),
    recolour() {
      for (const { layer } of Object.values(overlays)) layer.changed();
    },
    onMove(listener) {
      const key = map.on("moveend", () => listener(positionOf(map, view, subset)));
      return () => unByKey(key);
    },
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
    onTileError(listener) {
      tileErrors.add(listener);
      return () => tileErrors.delete(listener);
    },
    close() {
      stopTiles.abort();
      map.setTarget(undefined);
    },
  };
}

function positionOf(map: OpenLayersMap, view: View, subset: GridSubset): MapPosition {
  const [x = 0, y = 0] = view.getCenter() ?? [];
  const resolution = view.getResolution() ?? 1;
  const [minX = x, minY = y, maxX = x, maxY = y] = view.calculateExtent(map.getSize());
  return { centre: [x, y], resolution, z: nearestLevel(subset, resolution), box: [minX, minY, maxX, maxY] };
}

/** Returns a source of the tiles by their XYZ addresses. Its requests end when `stopped` aborts. */
function tileSource(subset: GridSubset, projection: Projection, tiles: ShownTiles, stopped: AbortSignal): ImageTile {
  const levels = subset.levels.slice(0, subset.zoomStop + 1);
  const nothing = document.createElement("canvas");
  nothing.width = nothing.height = 1;
  return new ImageTile({
    projection,
    wrapX: false,
    transition: 0,
    // The rule of `nearestLevel`: OpenLayers would use much finer tiles between levels that are far apart.
    zDirection: (resolution, coarser, finer) => resolution ** 2 - coarser * finer,
    tileSize: [...subset.tileSize],
    tileGrid: new TileGrid({
      minZoom: subset.zoomStart,
      resolutions: levels.map(({ resolution }) => resolution),
      origins: levels.map(({ topLeft }) => [...topLeft]),
      sizes: levels.map(({ matrixSize }) => [...matrixSize]),
      tileSize: [...subset.tileSize],
    }),
    loader: async (z, x, y, { signal }) => {
      if (!isOffered(subset, { z, x, y })) return nothing;
      const response = await fetch(tileAddress(tiles.template, { z, x, y }, tiles.parameters), {
        signal: AbortSignal.any([signal, stopped]),
        credentials: "same-origin",
        headers: tiles.storedOnly ? { "Cache-Control": "only-if-cached" } : {},
      });
      if (tiles.storedOnly && response.status === 504) return nothing;
      if (!response.ok) throw new Error(`HTTP ${response.status}`);
      return createImageBitmap(await response.blob());
    },
  });
}

/** Returns an OpenLayers layer that a painter function draws, and a function that sets another painter. */
function canvasLayer(page: HTMLElement, first?: Painter, className?: string) {
  let painter = first;
  const canvas = document.createElement("canvas");
  canvas.className = ["overlay", className].join(" ");
  const style = window.getComputedStyle(page);
  const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const layer = new Layer({
    render({ size, extent, viewState, pixelRatio }) {
      const [width = 0, height = 0] = size;
      canvas.width = Math.round(width * pixelRatio);
      canvas.height = Math.round(height * pixelRatio);
      const context = canvas.getContext("2d");
      if (painter === undefined || context === null || extent === null) return canvas;
      context.scale(pixelRatio, pixelRatio);
      const [minX = 0, minY = 0, maxX = 0, maxY = 0] = extent;
      const { resolution } = viewState;
      painter(context, { width, height, resolution, box: [minX, minY, maxX, maxY], colour });
      return canvas;
    },
  });
  return {
    layer,
    paint(next: Painter | undefined): void {
      painter = next;
      layer.changed();
    },
  };
}
