import type { GridSubset } from "../grid.ts";
import { SQUARE_COLOURS, type SquareState, type Squares } from "../map-surface.ts";
import { type DrawOverlay, type Frame, toPixel } from "./draw-overlay.ts";

/** The opacity of a square over the picture below it. */
const OPACITY: Readonly<Record<SquareState, number>> = {
  kept: 0.45,
  stale: 0.35,
  failed: 0.6,
  drawing: 0.6,
  evicted: 0.25,
};

/** The least height of a square with a pattern, in CSS pixels. */
const PATTERN_PX = 6;

/** Draws the squares of some states. Adjacent squares of one row are drawn as one rectangle. */
export const squaresOverlay =
  (subset: GridSubset, squares: Squares, states: readonly SquareState[]): DrawOverlay =>
  (context, frame) => {
    for (const state of states) {
      context.fillStyle = frame.colour(SQUARE_COLOURS[state]);
      context.strokeStyle = context.fillStyle;
      for (const run of visibleRuns(subset, squares, state, frame)) fillRun(context, run, state);
    }
  };

/** Adjacent squares of one row, in CSS pixels. */
interface Run {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  readonly squares: number;
}

function fillRun(context: CanvasRenderingContext2D, run: Run, state: SquareState): void {
  const { left, top, right, bottom, squares } = run;
  const [width, height] = [right - left, bottom - top];
  const hasRoom = height >= PATTERN_PX;
  context.globalAlpha = OPACITY[state];
  // If the squares are large enough, a gap of one pixel separates neighbours.
  const gap = hasRoom ? 1 : 0;
  const each = width / squares;
  for (let n = 0; n < (hasRoom ? squares : 1); n++) {
    const [x, w] = hasRoom ? [left + n * each, each] : [left, width];
    context.fillRect(x, top, Math.max(1, w - gap), Math.max(1, height - gap));
  }
  context.globalAlpha = 1;
  if (!hasRoom || state === "kept") return;
  context.lineWidth = Math.max(1, Math.min(3, height / 10));
  context.beginPath();
  for (let n = 0; n < squares; n++) pattern(context, state, left + n * each, top, each - gap, height - gap);
  context.stroke();
}

/**
 * Draws the pattern of a state. Stale: a diagonal line. Failed: a cross. Being rendered: a ring. Evicted: a horizontal
 * line.
 */
function pattern(
  context: CanvasRenderingContext2D,
  state: SquareState,
  left: number,
  top: number,
  width: number,
  height: number,
): void {
  if (state === "drawing") {
    const radius = Math.max(1, Math.min(width, height) / 4);
    context.moveTo(left + width / 2 + radius, top + height / 2);
    context.arc(left + width / 2, top + height / 2, radius, 0, 2 * Math.PI);
    return;
  }
  if (state === "evicted") {
    context.moveTo(left + width / 4, top + height / 2);
    context.lineTo(left + (width * 3) / 4, top + height / 2);
    return;
  }
  context.moveTo(left, top + height);
  context.lineTo(left + width, top);
  if (state !== "failed") return;
  context.moveTo(left, top);
  context.lineTo(left + width, top + height);
}

function* visibleRuns(
  { levels, tileSize }: GridSubset,
  squares: Squares,
  state: SquareState,
  frame: Frame,
): Generator<Run> {
  const { z, x0, y0, width, step } = squares;
  const level = levels[z];
  if (level === undefined || width === 0) return;
  const [w, h] = [tileSize[0] * level.resolution * step, tileSize[1] * level.resolution * step];
  const [x, y] = [level.origin[0] + (x0 / step) * w, level.origin[1] + (y0 / step) * h];
  const runs = squares[state];
  for (let n = 0, at = 0; n + 1 < runs.length; n += 2) {
    at += runs[n] ?? 0;
    let left = runs[n + 1] ?? 0;
    while (left > 0) {
      const [column, row] = [at % width, Math.floor(at / width)];
      const length = Math.min(left, width - column);
      at += length;
      left -= length;
      const [px, py] = toPixel(frame, [x + column * w, y + (row + 1) * h]);
      const [right, bottom] = toPixel(frame, [x + (column + length) * w, y + row * h]);
      if (right < 0 || bottom < 0 || px > frame.width || py > frame.height) continue;
      yield { left: px, top: py, right, bottom, squares: length };
    }
  }
}
