import { type GeoPath, type GeoStream, geoClipRectangle, geoPath, geoTransform } from "d3-geo";
import type { Extent } from "../../grid/grid-set.ts";
import type { Piece } from "./geography.ts";

/** Paths are clipped this far outside the picture, so that no stroke shows where. */
const MARGIN_PIXELS = 24;
/** Points nearer than this to the last one are left out: less than a pixel shows. */
const LEAST_STEP_PIXELS = 0.8;

/** An SVG picture of an area: writes pieces of a geography as paths. */
export class Canvas {
  readonly width: number;
  readonly height: number;
  /** CRS units per pixel, across. */
  readonly unitsPerPixel: number;
  readonly #extent: Extent;
  readonly #box: Extent;
  readonly #path: GeoPath;

  constructor({ extent, width, height }: { readonly extent: Extent; readonly width: number; readonly height: number }) {
    this.width = width;
    this.height = height;
    this.unitsPerPixel = (extent.maxX - extent.minX) / width;
    this.#extent = extent;
    const margin = MARGIN_PIXELS * this.unitsPerPixel;
    this.#box = {
      minX: extent.minX - margin,
      minY: -extent.maxY - margin,
      maxX: extent.maxX + margin,
      maxY: margin - extent.minY,
    };
    const clip = geoClipRectangle(-MARGIN_PIXELS, -MARGIN_PIXELS, width + MARGIN_PIXELS, height + MARGIN_PIXELS);
    this.#path = geoPath({ stream: (sink: GeoStream) => this.#toPixels().stream(clip(sink)) }).digits(2);
  }

  /** Returns the pixel of a position, from the top left. */
  pixelOf(x: number, y: number): readonly [left: number, top: number] {
    const { minX, maxX, minY, maxY } = this.#extent;
    return [((x - minX) * this.width) / (maxX - minX), ((y + maxY) * this.height) / (maxY - minY)];
  }

  /** Returns whether a part of an extent (y down) is on the picture or near it. */
  shows({ minX, minY, maxX, maxY }: Extent): boolean {
    const box = this.#box;
    return maxX >= box.minX && minX <= box.maxX && maxY >= box.minY && minY <= box.maxY;
  }

  /** Returns SVG path data; "" where nothing shows. */
  path(pieces: readonly Piece[]): string {
    let data = "";
    for (const { kind, lines, extent } of pieces) {
      if (!this.shows(extent)) continue;
      const [line = []] = lines;
      data +=
        this.#path(
          kind === "line" ? { type: "LineString", coordinates: line } : { type: "Polygon", coordinates: lines },
        ) ?? "";
    }
    return data;
  }

  svg(elements: readonly string[]): string {
    const { width, height } = this;
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><g stroke-linejoin="round" stroke-linecap="round">${elements.join("")}</g></svg>`;
  }

  /** Scales positions to pixels and leaves out points that no pixel shows. The last point of a line stays: lines meet there. */
  #toPixels() {
    const pixelOf = this.pixelOf.bind(this);
    let last: readonly [number, number] | undefined;
    let skipped: readonly [number, number] | undefined;
    return geoTransform({
      lineStart() {
        last = undefined;
        this.stream.lineStart();
      },
      point(x, y) {
        const pixel = pixelOf(x, y);
        skipped = undefined;
        if (last !== undefined && Math.hypot(pixel[0] - last[0], pixel[1] - last[1]) < LEAST_STEP_PIXELS)
          skipped = pixel;
        else {
          last = pixel;
          this.stream.point(...pixel);
        }
      },
      lineEnd() {
        if (skipped !== undefined) this.stream.point(...skipped);
        skipped = undefined;
        this.stream.lineEnd();
      },
    });
  }
}

export const filled = (path: string, fill: string): string => `<path d="${path}" fill="${fill}"/>`;

export const stroked = (path: string, colour: string, pixels: number): string =>
  `<path d="${path}" fill="none" stroke="${colour}" stroke-width="${pixels}"/>`;
