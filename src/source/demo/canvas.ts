import { type GeoIdentityTransform, geoIdentity, geoPath } from "d3-geo";
import type { Extent } from "../../grid/grid-set.ts";
import { geometryOf, type Piece, type Position } from "./geography.ts";

/** Paths are clipped this far outside the picture, so that the cut edges are not visible. */
const MARGIN_PIXELS = 24;
/**
 * Points nearer than this to the previous point are omitted, because a difference of less than a pixel is not visible.
 */
const LEAST_STEP_PIXELS = 0.8;

/** An SVG picture of an area. Writes pieces of a geography as paths. */
export class Canvas {
  readonly width: number;
  readonly height: number;
  /** CRS units per pixel. */
  readonly unitsPerPixel: number;
  readonly #toPixels: GeoIdentityTransform;
  readonly #box: Extent;

  constructor({ extent, width, height }: { readonly extent: Extent; readonly width: number; readonly height: number }) {
    this.width = width;
    this.height = height;
    const units = (extent.maxX - extent.minX) / width;
    this.unitsPerPixel = units;
    this.#toPixels = geoIdentity()
      .scale(1 / units)
      .translate([-extent.minX / units, extent.maxY / units])
      .clipExtent([
        [-MARGIN_PIXELS, -MARGIN_PIXELS],
        [width + MARGIN_PIXELS, height + MARGIN_PIXELS],
      ]);
    const margin = MARGIN_PIXELS * units;
    this.#box = {
      minX: extent.minX - margin,
      minY: -extent.maxY - margin,
      maxX: extent.maxX + margin,
      maxY: margin - extent.minY,
    };
  }

  /** Returns the pixel of a position, from the top left. */
  pixelOf(position: Position): Position {
    return this.#toPixels(position) ?? [NaN, NaN];
  }

  /** Returns whether an extent (y down) is on the picture or near it. */
  shows({ minX, minY, maxX, maxY }: Extent): boolean {
    const box = this.#box;
    return maxX >= box.minX && minX <= box.maxX && maxY >= box.minY && minY <= box.maxY;
  }

  /** Returns SVG path data; "" if no part is visible. */
  path(pieces: readonly Piece[]): string {
    const path = geoPath(this.#toPixels).digits(2);
    const least = LEAST_STEP_PIXELS * this.unitsPerPixel;
    return pieces
      .filter(({ extent }) => this.shows(extent))
      .map(
        ({ type, lines }) =>
          path(
            geometryOf(
              type,
              lines.map((line) => thinned(line, least)),
            ),
          ) ?? "",
      )
      .join("");
  }

  svg(elements: readonly string[]): string {
    const { width, height } = this;
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><g stroke-linejoin="round" stroke-linecap="round">${elements.join("")}</g></svg>`;
  }
}

/** Omits points nearer than `least` to the previous point. Keeps the ends of a line, because lines meet there. */
function thinned(line: readonly Position[], least: number): Position[] {
  let last = line[0] ?? [0, 0];
  return line.filter((point, i) => {
    const stays = i === 0 || i === line.length - 1 || Math.hypot(point[0] - last[0], point[1] - last[1]) >= least;
    if (stays) last = point;
    return stays;
  });
}

export const filled = (path: string, fill: string): string => `<path d="${path}" fill="${fill}"/>`;

export const stroked = (path: string, colour: string, pixels: number): string =>
  `<path d="${path}" fill="none" stroke="${colour}" stroke-width="${pixels}"/>`;
