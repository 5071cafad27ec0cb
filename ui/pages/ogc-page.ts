import TileLayer from "ol/layer/Tile.js";
import OpenLayersMap from "ol/Map.js";
import Projection from "ol/proj/Projection.js";
import ImageTile from "ol/source/ImageTile.js";
import TileGrid from "ol/tilegrid/TileGrid.js";
import View from "ol/View.js";
import {
  boxOf,
  type Level,
  levelsOf,
  type TileMatrixSet,
  type Tileset,
  tileAddress,
  withoutOrigin,
} from "./ogc-tileset.ts";
import type { TileSource } from "./ogc-vector.ts";

/*
 * The map of a page of `/ogc`: it shows the tile set that the page names, in the CRS of its tile matrix set. It needs no
 * definition of the CRS, because the tile matrix set has the position of each tile.
 */

/** Metres of a pixel at a scale of 1:1 (OGC 17-083r4, 6.2). */
const PIXEL_METRES = 0.000_28;
const PADDING = 8;

const target = document.querySelector<HTMLElement>("#map");
const tilesetAddress = target?.dataset["tileset"];
if (target !== null && tilesetAddress !== undefined)
  show(target, tilesetAddress).catch((error: unknown) => {
    target.textContent = `The map cannot be shown: ${String(error)}`;
  });

async function show(element: HTMLElement, address: string): Promise<void> {
  // `aria-busy` tells screen readers and tests whether all tiles are shown.
  element.ariaBusy = "true";
  const tileset: Tileset = await read(address);
  const scheme = tileset.links.find(({ rel }) => rel.endsWith("/tiling-scheme"));
  const item = tileset.links.find(({ rel }) => rel === "item");
  if (scheme === undefined || item === undefined) throw new Error("the tile set has no tiles");
  const set: TileMatrixSet = await read(withoutOrigin(scheme.href));
  const levels = levelsOf(set, tileset);
  const coarsest = levels.find(({ limits }) => limits !== undefined);
  if (coarsest === undefined) throw new Error("the tile set has no levels");
  const source = {
    grid: gridOf(levels, levels.indexOf(coarsest)),
    projection: projectionOf(set.crs, coarsest),
    addressOf: (z: number, x: number, y: number) => tileAddress(withoutOrigin(item.href), levels[z], x, y),
  };
  const layer = item.type.startsWith("image/")
    ? pictures(source)
    : (await import("./ogc-vector.ts")).vectors(source, item.type);
  const view = viewOf(element, source.projection, levels);
  const map = new OpenLayersMap({ target: element, view, layers: [layer] });
  map.on("rendercomplete", () => {
    element.ariaBusy = "false";
  });
}

async function read<T>(address: string): Promise<T> {
  const response = await fetch(address, { headers: { Accept: "application/json" } });
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return response.json();
}

const gridOf = (levels: readonly Level[], minZoom: number): TileGrid =>
  new TileGrid({
    minZoom,
    resolutions: levels.map(({ cellSize }) => cellSize),
    origins: levels.map(({ corner }) => [...corner]),
    sizes: levels.map(({ matrixWidth, matrixHeight }) => [matrixWidth, matrixHeight]),
    tileSizes: levels.map(({ tileWidth, tileHeight }) => [tileWidth, tileHeight]),
  });

function projectionOf(code: string, level: Level): Projection {
  const metersPerUnit = (level.scaleDenominator * PIXEL_METRES) / level.cellSize;
  return new Projection({ code, units: metersPerUnit > 1000 ? "degrees" : "m", metersPerUnit, extent: boxOf(level) });
}

/** Returns a view of all tiles. It has coarser resolutions than the levels if the tiles would not fit. */
function viewOf({ clientWidth, clientHeight }: HTMLElement, projection: Projection, levels: readonly Level[]): View {
  // The tiles of the finest level exceed the layer least.
  const finest = levels.at(-1);
  const [minX = 0, minY = 0, maxX = 0, maxY = 0] = finest === undefined ? [] : boxOf(finest);
  const room = [clientWidth, clientHeight].map((side) => Math.max(1, side - 2 * PADDING));
  const needed = Math.max((maxX - minX) / (room[0] ?? 1), (maxY - minY) / (room[1] ?? 1));
  const resolutions = levels.flatMap(({ limits, cellSize }) => (limits === undefined ? [] : [cellSize]));
  while ((resolutions[0] ?? needed) < needed) resolutions.unshift((resolutions[0] ?? needed) * 2);
  return new View({
    projection,
    resolutions,
    constrainResolution: true,
    enableRotation: false,
    center: [(minX + maxX) / 2, (minY + maxY) / 2],
    resolution: resolutions.findLast((one) => one >= needed) ?? needed,
  });
}

function pictures({ grid, projection, addressOf }: TileSource): TileLayer<ImageTile> {
  const nothing = document.createElement("canvas");
  nothing.width = nothing.height = 1;
  const source = new ImageTile({
    projection,
    wrapX: false,
    transition: 0,
    tileGrid: grid,
    loader: async (z, x, y, { signal }) => {
      const address = addressOf(z, x, y);
      if (address === undefined) return nothing;
      const response = await fetch(address, { signal });
      if (response.status === 404) return nothing;
      if (!response.ok) throw new Error(`HTTP ${response.status}`);
      return createImageBitmap(await response.blob());
    },
  });
  return new TileLayer({ source });
}
