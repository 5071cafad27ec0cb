import type { Doc } from "../core/api.ts";
import type { Box, GridSubset, TileAddress } from "./grid.ts";

/** The centre and the resolution of a map. */
export interface MapPosition {
  readonly centre: readonly [number, number];
  /** Units of the grid set per CSS pixel. */
  readonly resolution: number;
  /** The level whose tiles are shown. */
  readonly z: number;
  readonly box: Box;
}

/** The position of the pointer. `tile` undefined: the layer has no tile there. */
export interface MapPointer {
  readonly at: readonly [number, number];
  readonly tile: TileAddress | undefined;
}

/** The pictures that a map shows. */
export interface ShownTiles {
  readonly template: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** Only tiles that are stored: nothing is rendered. */
  readonly storedOnly: boolean;
}

/** The squares of a level, as `GET /api/v1/coverage` answers. */
export type Squares = Doc<"Coverage">;
const STATES = ["kept", "stale", "failed", "drawing", "evicted"] as const;
export type SquareState = (typeof STATES)[number];

/** Returns the state of the square in which a tile lies; undefined: it is missing, or not among the squares. */
export function stateOf(squares: Squares, { levels }: GridSubset, { z, x, y }: TileAddress): SquareState | undefined {
  const fromBottom = (levels[z]?.matrixSize[1] ?? 0) - 1 - y;
  const column = Math.floor((x - squares.x0) / squares.step);
  const row = Math.floor((fromBottom - squares.y0) / squares.step);
  if (z !== squares.z || column < 0 || row < 0 || column >= squares.width || row >= squares.height) return undefined;
  const at = row * squares.width + column;
  return STATES.find((state) => isInRuns(squares[state], at));
}

function isInRuns(runs: readonly number[], at: number): boolean {
  for (let n = 0, end = 0; n + 1 < runs.length; n += 2) {
    const start = end + (runs[n] ?? 0);
    end = start + (runs[n + 1] ?? 0);
    if (at < end) return at >= start;
  }
  return false;
}

/** Polygons in the CRS of the grid set: rings of positions, x first, the first ring of a polygon is its outline. */
export type Polygons = readonly (readonly (readonly (readonly [number, number])[])[])[];

/** Returns a box as polygons. */
export const boxPolygons = ([minX, minY, maxX, maxY]: Box): Polygons => [
  [
    [
      [minX, minY],
      [maxX, minY],
      [maxX, maxY],
      [minX, maxY],
    ],
  ],
];

export type DrawnShape = "box" | "polygon";

/** A map that is open. Coordinates are in units of the grid set, x first. */
export interface MapSurface {
  readonly subset: GridSubset;
  position(): MapPosition;
  /** Shows a box as large as it fits. */
  fit(box: Box): void;
  /** Moves the map to a position, such as one that `position` has reported. */
  show(place: Pick<MapPosition, "centre" | "resolution">): void;
  /** Goes to the next finer (1) or coarser (-1) resolution. */
  zoom(step: 1 | -1): void;
  /** undefined: no pictures. */
  setTiles(tiles: ShownTiles | undefined): void;
  /** Asks for the pictures in view again. */
  refreshTiles(): void;
  /** Shows the borders of the tiles, with z/x/y as in XYZ addresses. */
  setBorders(isShown: boolean): void;
  /** Shows the states of tiles; undefined: none. */
  setSquares(squares: Squares | undefined): void;
  /** Shows the requested area; undefined: none. */
  setArea(area: Polygons | undefined): void;
  /** Marks one tile; undefined: none. */
  setMark(tile: TileAddress | undefined): void;
  /** Lets the reader draw. Resolves with the polygons, or undefined after `signal` or Escape. */
  draw(shape: DrawnShape, signal: AbortSignal): Promise<Polygons | undefined>;
  /** Scrolls the map into view. */
  reveal(): void;
  /** Reads the colours of the page again. */
  recolour(): void;
  /** Each returns a function that ends it. */
  onMove(listener: (position: MapPosition) => void): () => void;
  onPointer(listener: (pointer: MapPointer | undefined) => void): () => void;
  onClick(listener: (pointer: MapPointer) => void): () => void;
  onTileError(listener: () => void): () => void;
  close(): void;
}
