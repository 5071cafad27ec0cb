import type { Box } from "../grid.ts";

/** The visible part of the map, in CSS pixels from its upper left corner, on which an overlay is drawn. */
export interface Frame {
  readonly width: number;
  readonly height: number;
  /** Units of the grid set per CSS pixel. */
  readonly resolution: number;
  readonly box: Box;
  /** Returns the colour in a variable of the style sheet, such as "good". */
  readonly colour: (name: string) => string;
}

/** Draws an overlay over the tiles. Called for every frame. */
export type DrawOverlay = (context: CanvasRenderingContext2D, frame: Frame) => void;

/** Returns a position in pixels. */
export const toPixel = ({ box, resolution }: Frame, [x, y]: readonly [number, number]): readonly [number, number] => [
  (x - box[0]) / resolution,
  (box[3] - y) / resolution,
];
