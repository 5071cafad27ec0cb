import { loadSharp } from "../image/load-sharp.ts";
import type { DemoSourceOptions } from "../layer/layer.ts";
import { parseFilter } from "./demo/filter.ts";
import { type Canvas, pathOf } from "./demo/path.ts";
import { type Shape, shapesOf } from "./demo/shapes.ts";
import { type Drawing, type DrawRequest, type Source, SourceError } from "./source.ts";

/** Fills by persons: from few to many. */
const CLASSES: readonly (readonly [below: number, fill: string, hatch: string])[] = [
  [1_500_000, "#f4e8c6", "h0"],
  [4_000_000, "#e8c98c", "h1"],
  [8_000_000, "#d99a5b", "h2"],
  [14_000_000, "#b9643c", "h3"],
  [Number.POSITIVE_INFINITY, "#84372b", "h4"],
];
/** Land of the world map, neighbours told apart by the name. */
const LANDS = ["#e9e4cf", "#dfe3c6", "#ece0c8", "#d9e2cd", "#e6dcc2", "#dde0d0"];
/** Finer shapes below this many degrees or their like per pixel. */
const FINE_DEGREES = 0.18;

/** Built-in pictures of Natural Earth and US atlas data: no network, correct in EPSG:4326, 900913 and 2163. */
export function createDemoSource(options: DemoSourceOptions): Source {
  return {
    async draw(request: DrawRequest, signal: AbortSignal): Promise<Drawing> {
      try {
        const svg = options.dataset === "states" ? statesSvg(request) : worldSvg(request);
        const sharp = await loadSharp();
        if (signal.aborted) throw new SourceError("cancelled", "cancelled");
        const { data, info } = await sharp(Buffer.from(svg), { limitInputPixels: false, unlimited: true })
          .ensureAlpha()
          .raw()
          .toBuffer({ resolveWithObject: true });
        if (info.width !== request.width || info.height !== request.height) {
          throw new SourceError("wrong_size", `drawn were ${info.width} x ${info.height} pixels`);
        }
        return { kind: "raster", raster: { width: info.width, height: info.height, channels: 4, data } };
      } catch (error) {
        if (error instanceof SourceError) throw error;
        throw new SourceError("exception", "the demo layer could not be drawn", { cause: error });
      }
    },
    async [Symbol.asyncDispose]() {},
  };
}

const canvasOf = ({ extent, width, height }: DrawRequest): Canvas => ({ extent, width, height });

const svgOf = ({ width, height }: DrawRequest, body: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${body}</svg>`;

const shapePath = (shape: Shape, canvas: Canvas): string => shape.rings.map((ring) => pathOf(ring, canvas)).join("");

function worldSvg(request: DrawRequest): string {
  const { extent, width, gridSet } = request;
  const canvas = canvasOf(request);
  const perPixel = (extent.maxX - extent.minX) / width / (gridSet.srs === 4326 ? 1 : 111_319);
  const shapes = shapesOf(perPixel < FINE_DEGREES ? "countries-50m" : "countries-110m", gridSet.srs);
  const body = shapes.map((shape) => {
    const d = shapePath(shape, canvas);
    if (d === "") return "";
    const name = String(shape.attributes["NAME"] ?? "");
    const fill = LANDS[[...name].reduce((sum, c) => sum + (c.codePointAt(0) ?? 0), 0) % LANDS.length];
    return `<path d="${d}" fill="${fill}"/>`;
  });
  return svgOf(
    request,
    `<rect width="100%" height="100%" fill="#c3d9e6"/><g fill-rule="evenodd" stroke="#8c8676" stroke-width="0.8" stroke-linejoin="round">${body.join("")}</g>`,
  );
}

function statesSvg(request: DrawRequest): string {
  const { parameters } = request;
  const style = parameters["STYLES"] || "population";
  const keep = parseFilter(parameters["CQL_FILTER"] ?? "");
  const canvas = canvasOf(request);
  const body = shapesOf("states", request.gridSet.srs)
    .filter((shape) => keep(shape.attributes))
    .map((shape) => {
      const d = shapePath(shape, canvas);
      return d === "" ? "" : `<path d="${d}" ${paintOf(style, Number(shape.attributes["PERSONS"]))}/>`;
    });
  return svgOf(
    request,
    `${style === "pophatch" ? hatches(request) : ""}<g fill-rule="evenodd" stroke="#5a4a3f" stroke-width="1" stroke-linejoin="round">${body.join("")}</g>`,
  );
}

function paintOf(style: string, persons: number): string {
  const [, fill, hatch] = CLASSES.find(([below]) => persons < below) ?? [0, "#f4e8c6", "h0"];
  if (style === "polygon") return 'fill="#b8c9d6"';
  return style === "pophatch" ? `fill="url(#${hatch})"` : `fill="${fill}"`;
}

/** Hatching anchored to the CRS, not to the picture, so that neighbouring metatiles join. */
function hatches({ extent, width, height }: DrawRequest): string {
  const size = 8;
  const pixel = (extent.maxX - extent.minX) / width;
  const shift = (origin: number): number => ((Math.round(origin / pixel) % size) + size) % size;
  const x = -shift(extent.minX);
  const y = shift(extent.minY) + (height % size);
  const lines = CLASSES.map(
    ([, fill, id], i) =>
      `<pattern id="${id}" patternUnits="userSpaceOnUse" width="${size}" height="${size}" patternTransform="translate(${x} ${y})"><rect width="${size}" height="${size}" fill="#fbf6e8"/><path d="M-1 1l2 -2M0 ${size}l${size} -${size}M${size - 1} ${size + 1}l2 -2" stroke="${fill}" stroke-width="${1 + i * 0.6}"/></pattern>`,
  );
  return `<defs>${lines.join("")}</defs>`;
}
