import { type GridSubset, isOffered, nearestLevel, type TileAddress, tileBox, tileName } from "../grid.ts";
import { type DrawOverlay, type Frame, toPixel } from "./draw-overlay.ts";

/** The least width of a tile with a label, and of a tile with a border, in CSS pixels. */
const LABELLED_PX = 90;
const BORDERED_PX = 6;

/** Draws the bounds that the layer offers. */
export const boundsOverlay =
  ({ bounds }: GridSubset): DrawOverlay =>
  (context, frame) => {
    const [left, bottom] = toPixel(frame, [bounds[0], bounds[1]]);
    const [right, top] = toPixel(frame, [bounds[2], bounds[3]]);
    context.strokeStyle = frame.colour("edge");
    context.lineWidth = 1;
    context.setLineDash([6, 4]);
    context.strokeRect(Math.round(left) + 0.5, Math.round(top) + 0.5, right - left, bottom - top);
  };

/** Draws the borders of the tiles and their addresses. */
export const bordersOverlay =
  (subset: GridSubset): DrawOverlay =>
  (context, frame) => {
    const z = nearestLevel(subset, frame.resolution);
    context.font = "12px ui-monospace, monospace";
    context.textBaseline = "top";
    for (const tile of visibleTiles(subset, z, frame)) {
      const [left, bottom, right, top] = pixelBox(subset, tile, frame);
      context.strokeStyle = frame.colour("accent");
      context.strokeRect(left + 0.5, top + 0.5, right - left, bottom - top);
      if (right - left < LABELLED_PX) continue;
      const text = tileName(tile);
      context.fillStyle = frame.colour("panel");
      context.fillRect(left + 1, top + 1, context.measureText(text).width + 10, 20);
      context.fillStyle = frame.colour("ink");
      context.fillText(text, left + 6, top + 5);
    }
  };

/** Draws a frame around one tile. */
export const markOverlay =
  (subset: GridSubset, tile: TileAddress): DrawOverlay =>
  (context, frame) => {
    const [left, bottom, right, top] = pixelBox(subset, tile, frame);
    const grown = Math.max(0, (8 - (right - left)) / 2);
    const rectangle = [left - grown, top - grown, right - left + 2 * grown, bottom - top + 2 * grown] as const;
    context.lineWidth = 5;
    context.strokeStyle = frame.colour("panel");
    context.strokeRect(...rectangle);
    context.lineWidth = 3;
    context.strokeStyle = frame.colour("focus");
    context.strokeRect(...rectangle);
  };

function pixelBox(subset: GridSubset, tile: TileAddress, frame: Frame): readonly [number, number, number, number] {
  const [minX, minY, maxX, maxY] = tileBox(subset, tile);
  const [left, bottom] = toPixel(frame, [minX, minY]);
  const [right, top] = toPixel(frame, [maxX, maxY]);
  return [Math.round(left), Math.round(bottom), Math.round(right), Math.round(top)];
}

/** Yields the visible offered tiles of a level. Yields none if the tiles are too small to be distinguished. */
function* visibleTiles(subset: GridSubset, z: number, { box, resolution }: Frame): Generator<TileAddress> {
  const level = subset.levels[z];
  if (level === undefined) return;
  const [width, height] = [subset.tileSize[0] * level.resolution, subset.tileSize[1] * level.resolution];
  if (width / resolution < BORDERED_PX) return;
  const [left, top] = level.topLeft;
  for (let y = Math.floor((top - box[3]) / height); y <= Math.floor((top - box[1]) / height); y++)
    for (let x = Math.floor((box[0] - left) / width); x <= Math.floor((box[2] - left) / width); x++)
      if (isOffered(subset, { z, x, y })) yield { z, x, y };
}
