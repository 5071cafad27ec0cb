import type { Polygons } from "../map-surface.ts";
import { type DrawOverlay, toPixel } from "./draw-overlay.ts";

/** Draws the requested area: its outline, and a transparent filling. */
export const areaOverlay =
  (area: Polygons): DrawOverlay =>
  (context, frame) => {
    context.beginPath();
    for (const ring of area.flat()) {
      for (const [n, position] of ring.entries()) {
        const [x, y] = toPixel(frame, position);
        if (n === 0) context.moveTo(x, y);
        else context.lineTo(x, y);
      }
      context.closePath();
    }
    context.globalAlpha = 0.18;
    context.fillStyle = frame.colour("accent");
    context.fill("evenodd");
    context.globalAlpha = 1;
    context.lineJoin = "round";
    context.lineWidth = 5;
    context.strokeStyle = frame.colour("panel");
    context.stroke();
    context.lineWidth = 2.5;
    context.strokeStyle = frame.colour("accent");
    context.stroke();
  };
