import Layer from "ol/layer/Layer.js";
import type { GridSubset } from "../grid.ts";
import type { MapSurface } from "../map-surface.ts";
import { areaOverlay } from "./area.ts";
import { bordersOverlay, boundsOverlay, markOverlay } from "./borders.ts";
import type { DrawOverlay } from "./draw-overlay.ts";
import { squaresOverlay } from "./squares.ts";

interface Overlays extends Pick<MapSurface, "setBorders" | "setSquares" | "setArea" | "setMark" | "recolour"> {
  /** The layers, the lowest first. */
  readonly layers: readonly Layer[];
}

/** Makes the overlays of a map. The style of `page` defines the colours. */
export function createOverlays(page: HTMLElement, subset: GridSubset): Overlays {
  const bounds = canvasLayer(page, boundsOverlay(subset));
  const squares = canvasLayer(page);
  const drawing = canvasLayer(page, undefined, "pulse");
  const borders = canvasLayer(page);
  const area = canvasLayer(page);
  const mark = canvasLayer(page);
  const layers = [bounds, squares, drawing, borders, area, mark].map(({ layer }) => layer);
  return {
    layers,
    setBorders: (isShown) => borders.set(isShown ? bordersOverlay(subset) : undefined),
    setSquares(shown) {
      squares.set(shown && squaresOverlay(subset, shown, ["kept", "stale", "failed", "evicted"]));
      drawing.set(shown && squaresOverlay(subset, shown, ["drawing"]));
    },
    setArea: (shown) => area.set(shown && areaOverlay(shown)),
    setMark: (tile) => mark.set(tile && markOverlay(subset, tile)),
    recolour() {
      for (const layer of layers) layer.changed();
    },
  };
}

/** Returns an OpenLayers layer that a function draws, and a setter for this function. */
function canvasLayer(page: HTMLElement, first?: DrawOverlay, className?: string) {
  let draw = first;
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
      if (draw === undefined || context === null || extent === null) return canvas;
      context.scale(pixelRatio, pixelRatio);
      const [minX = 0, minY = 0, maxX = 0, maxY = 0] = extent;
      const { resolution } = viewState;
      draw(context, { width, height, resolution, box: [minX, minY, maxX, maxY], colour });
      return canvas;
    },
  });
  return {
    layer,
    set(next: DrawOverlay | undefined): void {
      draw = next;
      layer.changed();
    },
  };
}
