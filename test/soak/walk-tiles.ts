import { createHash } from "node:crypto";

/** The layers of the walk: metatiles of several shapes, one or two formats, with and without styles. */
export const WALK_LAYERS = ["alpha", "beta", "gamma", "kept"] as const;
export type LayerName = (typeof WALK_LAYERS)[number];
export const STYLES = ["", "night", "relief"] as const;
export type Style = (typeof STYLES)[number];
export const FORMATS = ["png", "jpeg"] as const;
export type Format = (typeof FORMATS)[number];
export const ZOOM_STOP = 8;
export const TILE_SIDE = 64;

export interface Tile {
  readonly layer: LayerName;
  readonly grid: GridName;
  readonly style: Style;
  readonly format: Format;
  readonly z: number;
  readonly x: number;
  /** Counts from the bottom. */
  readonly y: number;
}

export interface Box {
  readonly minX: number;
  readonly minY: number;
  readonly maxX: number;
  readonly maxY: number;
}

/** Lower left corner and the side of a tile at zoom 0, in units of the grid set. */
const GRIDS = {
  "EPSG:900913": { minX: -20037508.34, minY: -20037508.34, side: 40075016.68, columns: 1 },
  "EPSG:4326": { minX: -180, minY: -90, side: 180, columns: 2 },
} as const;
export type GridName = keyof typeof GRIDS;
export const GRID_NAMES: readonly GridName[] = ["EPSG:900913", "EPSG:4326"];

export const columnsOf = (grid: GridName, z: number): number => GRIDS[grid].columns * 2 ** z;

/** The box of a block of tiles, made smaller on each side by a part of a tile. */
export function boxOf(
  grid: GridName,
  at: { readonly z: number; readonly x: number; readonly y: number },
  [width, height]: readonly [number, number] = [1, 1],
  inset = 0,
): Box {
  const { minX, minY, side } = GRIDS[grid];
  const step = side / 2 ** at.z;
  return {
    minX: minX + step * (at.x + inset),
    minY: minY + step * (at.y + inset),
    maxX: minX + step * (at.x + width - inset),
    maxY: minY + step * (at.y + height - inset),
  };
}

export const overlaps = (a: Box, b: Box): boolean =>
  a.minX < b.maxX && b.minX < a.maxX && a.minY < b.maxY && b.minY < a.maxY;

/** The tiles of one zoom whose interior a box touches: `z/x/y`, y from the bottom. */
export function* tilesIn(grid: GridName, z: number, box: Box): Generator<{ z: number; x: number; y: number }> {
  const { minX, minY, side } = GRIDS[grid];
  const step = side / 2 ** z;
  const [columns, rows] = [columnsOf(grid, z), 2 ** z];
  const from = (n: number): number => Math.max(0, Math.floor(n));
  for (let y = from((box.minY - minY) / step); y < rows && minY + y * step < box.maxY; y++)
    for (let x = from((box.minX - minX) / step); x < columns && minX + x * step < box.maxX; x++) yield { z, x, y };
}

/** Returns the lower left tile of a picture that is requested from the upstream, with tiles of `TILE_SIDE` pixels. */
export function tileAt(grid: GridName, box: Box, width: number): { z: number; x: number; y: number } {
  const { minX, minY, side } = GRIDS[grid];
  const step = (box.maxX - box.minX) / (width / TILE_SIDE);
  return {
    z: Math.round(Math.log2(side / step)),
    x: Math.round((box.minX - minX) / step),
    y: Math.round((box.minY - minY) / step),
  };
}

export const nameOf = ({ layer, grid, style, format, z, x, y }: Tile): string =>
  `${layer} ${grid}${style === "" ? "" : ` ${style}`} ${z}/${x}/${y}.${format}`;

/** The directory of one combination of parameters has this suffix: GWC's SHA-1 form. */
export const parametersId = (style: Style): string =>
  style === "" ? "" : createHash("sha1").update(`?STYLES=${style}`).digest("hex");

export const PROTOCOLS = ["xyz", "tms", "wmts", "wmts-rest", "wms"] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** Returns the address of a tile. */
export function addressOf(tile: Tile, protocol: Protocol): string {
  const { layer, grid, style, format, z, x, y } = tile;
  const row = 2 ** z - 1 - y;
  const styles = style === "" ? "" : `STYLES=${style}`;
  switch (protocol) {
    case "xyz":
      return `/xyz/${layer}/${grid}/${z}/${x}/${row}.${format}?${styles}`;
    case "tms":
      return `/service/tms/1.0.0/${layer}@${grid}@${format}/${z}/${x}/${y}.${format}?${styles}`;
    case "wmts":
      return `/service/wmts?SERVICE=WMTS&VERSION=1.0.0&REQUEST=GetTile&LAYER=${layer}&STYLE=${style}&FORMAT=image/${format}&TILEMATRIXSET=${grid}&TILEMATRIX=${grid}:${z}&TILEROW=${row}&TILECOL=${x}`;
    case "wmts-rest":
      return `/service/wmts/rest/${layer}/${style === "" ? "" : `${style}/`}${grid}/${grid}:${z}/${row}/${x}?format=image/${format}`;
    case "wms":
      return mapAddress(tile, boxOf(grid, tile), [1, 1]);
  }
}

/** A WMS map of so many tiles. */
export function mapAddress(
  { layer, grid, style, format }: Pick<Tile, "layer" | "grid" | "style" | "format">,
  { minX, minY, maxX, maxY }: Box,
  [width, height]: readonly [number, number],
): string {
  return `/service/wms?SERVICE=WMS&VERSION=1.1.1&REQUEST=GetMap&LAYERS=${layer}&STYLES=${style}&SRS=${grid}&BBOX=${minX},${minY},${maxX},${maxY}&WIDTH=${width * TILE_SIDE}&HEIGHT=${height * TILE_SIDE}&FORMAT=image/${format}`;
}
