import type { tileMatrixSet, tileset } from "../../src/http/tiles/ogc/ogc-documents.ts";

/*
 * The documents of OGC API - Tiles (OGC 20-057) and of Two Dimensional Tile Matrix Set 2.0 (17-083r4) that a map reads
 * from this server.
 */

export type Tileset = Pick<ReturnType<typeof tileset>, "links" | "tileMatrixSetLimits">;
export type TileMatrixSet = Pick<ReturnType<typeof tileMatrixSet>, "crs" | "orderedAxes" | "tileMatrices">;
type TileMatrix = TileMatrixSet["tileMatrices"][number];
type Limits = Tileset["tileMatrixSetLimits"][number];

/** A level whose tiles a map shows. Its corner has x first. */
export interface Level extends Omit<TileMatrix, "pointOfOrigin"> {
  readonly corner: readonly [x: number, y: number];
  /** Undefined if the tile set has no tiles at this level. */
  readonly limits: Limits | undefined;
}

/** Returns the levels up to the last one that the tile set has. */
export function levelsOf({ tileMatrices, orderedAxes }: TileMatrixSet, tileset: Tileset): readonly Level[] {
  const isYFirst = /^(lat|n|y)/i.test(orderedAxes[0] ?? "");
  const levels = tileMatrices.map(
    ({ pointOfOrigin: [a, b], ...matrix }): Level => ({
      ...matrix,
      corner: isYFirst ? [b, a] : [a, b],
      limits: tileset.tileMatrixSetLimits.find(({ tileMatrix }) => tileMatrix === matrix.id),
    }),
  );
  return levels.slice(0, levels.findLastIndex(({ limits }) => limits !== undefined) + 1);
}

/** Returns the box of all tiles of a level: minx, miny, maxx, maxy. */
export function boxOf({ corner: [left, top], cellSize, tileWidth, tileHeight, limits }: Level): number[] {
  const [width, height] = [tileWidth * cellSize, tileHeight * cellSize];
  const { minTileCol, maxTileCol, minTileRow, maxTileRow } = limits ?? ONE_TILE;
  return [
    left + minTileCol * width,
    top - (maxTileRow + 1) * height,
    left + (maxTileCol + 1) * width,
    top - minTileRow * height,
  ];
}

const ONE_TILE = { minTileCol: 0, maxTileCol: 0, minTileRow: 0, maxTileRow: 0 };

/** Returns the address of a tile. Undefined if the tile set does not have the tile. */
export function tileAddress(template: string, level: Level | undefined, x: number, y: number): string | undefined {
  const { limits } = level ?? {};
  if (level === undefined || limits === undefined) return undefined;
  if (x < limits.minTileCol || x > limits.maxTileCol || y < limits.minTileRow || y > limits.maxTileRow)
    return undefined;
  return template
    .replace("{tileMatrix}", encodeURIComponent(level.id))
    .replace("{tileRow}", String(y))
    .replace("{tileCol}", String(x));
}

/**
 * Returns an address of a document without its origin: behind a proxy the server may see another scheme or host than the
 * page.
 */
export const withoutOrigin = (href: string): string => href.replace(/^https?:\/\/[^/]+/, "");
