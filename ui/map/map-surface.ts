import type { Doc } from "../core/server/api.ts";
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

/** The position of the pointer. `tile` is undefined if the layer has no tile there. */
export interface MapPointer {
  readonly at: readonly [number, number];
  readonly tile: TileAddress | undefined;
}

/** The pictures that a map shows. */
export interface ShownTiles {
  readonly template: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** Whether only stored tiles are requested, so that nothing is rendered. */
  readonly storedOnly: boolean;
}

/** The squares of a level in the form of `GET /api/v1/coverage`. */
export type Squares = Doc<"Coverage">;
const STATES = ["kept", "stale", "failed", "drawing", "evicted"] as const;
export type SquareState = (typeof STATES)[number];

/** The style sheet's colour variable of each state. Each state also has a pattern. */
export const SQUARE_COLOURS: Readonly<Record<SquareState, string>> = {
  kept: "good",
  stale: "warn",
  failed: "bad",
  drawing: "busy",
  evicted: "soft",
};

/** Returns the state of the square that contains a tile. Undefined if the tile is missing or outside of the squares. */
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

/** Polygons in the CRS of the grid set: rings of positions, x first. The first ring of a polygon is its outline. */
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

/** An open map. Coordinates are in units of the grid set, x first. */
export interface MapSurface {
  readonly subset: GridSubset;
  position(): MapPosition;
  /** Shows a box as large as possible. */
  fit(box: Box): void;
  /** Moves the map to a position, for example to one that `onMove` has reported. */
  show(place: Pick<MapPosition, "centre" | "resolution">): void;
  /** Goes to the next finer (1) or coarser (-1) resolution. */
  zoom(step: 1 | -1): void;
  /** Replaces the pictures. Undefined removes them. */
  setTiles(tiles: ShownTiles | undefined): void;
  /** Requests the visible pictures again. */
  refreshTiles(): void;
  /** Shows the borders of the tiles, with z/x/y as in XYZ addresses. */
  setBorders(isShown: boolean): void;
  /** Shows the states of tiles. Undefined removes them. */
  setSquares(squares: Squares | undefined): void;
  /** Shows the requested area. Undefined removes it. */
  setArea(area: Polygons | undefined): void;
  /** Marks one tile. Undefined removes the mark. */
  setMark(tile: TileAddress | undefined): void;
  /** Lets the user draw. Resolves to the polygons, or undefined after `signal` or Escape. */
  draw(shape: DrawnShape, signal: AbortSignal): Promise<Polygons | undefined>;
  /** Scrolls the map into view. */
  reveal(): void;
  /** Reads the colours of the page again. */
  recolour(): void;
  /** Each listener is removed by the returned function. */
  onMove(listener: (position: MapPosition) => void): () => void;
  onPointer(listener: (pointer: MapPointer | undefined) => void): () => void;
  onClick(listener: (pointer: MapPointer) => void): () => void;
  onTileError(listener: () => void): () => void;
  close(): void;
}
