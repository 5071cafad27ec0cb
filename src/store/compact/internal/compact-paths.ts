import { join } from "node:path";
import {
  asTileRect,
  asTileX,
  asTileY,
  asZoom,
  type GridSetName,
  type TileRect,
  type TileX,
  type TileY,
  type Zoom,
} from "../../../grid/grid-set.ts";
import { extensionOf, formatInPath } from "../../../layer/format.ts";
import type { FormatName, TileSet } from "../../../layer/tile-set.ts";
import type { Disk } from "../../../lib/file/disk.ts";
import { pyramidDirectory } from "../../file/file-layout.ts";
import type { GridSets } from "../../grid-sets.ts";
import { namesIn } from "../../internal/directories.ts";
import { readRegular } from "../../internal/regular-file.ts";
import { StoreDirectory, type StoreDirectoryOptions } from "../../internal/store-directory.ts";
import type { StoredPyramid } from "../../inventory-store.ts";
import { SIDE } from "./bundle.ts";

/*
 * LAYER/GRIDSET[_PARAMETERSID]/EXTENSION/_alllayers/LZZ/RrrrrCcccc.bundle
 *
 * The directory of a format is a cache in ArcGIS's layout, with `conf.xml`. The name of a bundle contains the row, from
 * the top, and the column of its upper left tile, in hexadecimal digits.
 */

/** ArcGIS's name of the directory of all levels. */
export const LEVELS = "_alllayers";
/**
 * The file in a level's directory with the number of the level's rows. The grid set may be removed from the
 * configuration before its tiles are removed.
 */
export const ROWS_FILE = ".nuthatch-rows";

export interface CompactStoreOptions extends StoreDirectoryOptions {
  readonly gridSets: GridSets;
}

/** A bundle, with the row and column of its upper left tile. Rows count from the top. */
export interface BundleAt {
  readonly path: string;
  readonly row: number;
  readonly column: number;
}

/** The directory of a level of one format. */
export interface LevelAt {
  readonly path: string;
  readonly format: FormatName;
  readonly z: Zoom;
  /**
   * The rows of the level. Undefined if neither the configuration nor the store knows them; then no tile can be found.
   */
  readonly rows: number | undefined;
}

const hex = (n: number): string => n.toString(16).padStart(4, "0");

/** The directories of a compact store. */
export class CompactPaths extends StoreDirectory {
  readonly gridSets: GridSets;

  constructor(options: CompactStoreOptions) {
    super(options);
    this.gridSets = options.gridSets;
  }

  pyramidPath(pyramid: StoredPyramid): string {
    return `${this.layerPath(pyramid.layer)}/${pyramidDirectory(pyramid)}`;
  }

  /** Returns the directory of a format of a pyramid. */
  formatPath(tileSet: TileSet): string {
    return `${this.pyramidPath(tileSet)}/${extensionOf(tileSet.format)}`;
  }

  levelPath(tileSet: TileSet, z: Zoom): string {
    return `${this.formatPath(tileSet)}/${LEVELS}/${levelDirectory(z)}`;
  }

  /** Returns a level of one format. */
  level(tileSet: TileSet, z: Zoom): LevelAt {
    const path = this.levelPath(tileSet, z);
    return { path, format: tileSet.format, z, rows: this.#rowsOf(tileSet.gridSet, z, path) };
  }

  #rowsOf(gridSet: GridSetName, z: Zoom, path: string): number | undefined {
    const configured = this.gridSets(gridSet)?.matrices[z]?.matrixHeight;
    if (configured !== undefined) return configured;
    const file = join(path, ROWS_FILE);
    const rows = this.disk.existsSync(file) ? Number(readRegular(this.disk, file, "utf8") ?? Number.NaN) : Number.NaN;
    return Number.isSafeInteger(rows) && rows > 0 ? rows : undefined;
  }

  /** Returns the extensions of the pyramid's formats that have a directory. */
  formats(pyramid: StoredPyramid): readonly FormatName[] {
    return namesIn(this.disk, this.pyramidPath(pyramid)).flatMap((name) => formatInPath(name) ?? []);
  }

  /** Returns a level in all formats that have a directory. */
  levelsAt(pyramid: StoredPyramid, z: Zoom): readonly LevelAt[] {
    return this.formats(pyramid)
      .map((format) => this.level({ ...pyramid, format }, z))
      .filter(({ path }) => this.disk.existsSync(path));
  }
}

export const levelDirectory = (z: Zoom): string => `L${String(z).padStart(2, "0")}`;

/** Returns the level of a directory name. Undefined if it is not the name of a level's directory. */
export function parseLevelDirectory(name: string): Zoom | undefined {
  const z = /^L(\d{2,3})$/.exec(name)?.[1];
  return z === undefined ? undefined : asZoom(Number(z));
}

const bundleAt = (level: string, row: number, column: number): BundleAt => ({
  path: `${level}/R${hex(row)}C${hex(column)}.bundle`,
  row,
  column,
});

/**
 * Returns the bundle of a tile and the tile's index in the bundle. Undefined if the level has no such tile, or its rows
 * are unknown.
 */
export function placeOf(
  { path, rows }: LevelAt,
  x: TileX,
  y: TileY,
): { readonly bundle: BundleAt; readonly index: number } | undefined {
  if (rows === undefined || y < 0 || y >= rows) return undefined;
  const row = rows - 1 - y;
  const bundle = bundleAt(path, row - (row % SIDE), x - (x % SIDE));
  return { bundle, index: (row % SIDE) * SIDE + (x % SIDE) };
}

/** Returns the position of a tile in the level; y counts from the bottom. */
export const tileOfEntry = (rows: number, { row, column }: BundleAt, index: number): { x: TileX; y: TileY } => ({
  x: asTileX(column + (index % SIDE)),
  y: asTileY(rows - 1 - (row + Math.floor(index / SIDE))),
});

/** Returns the rectangle of a bundle's tiles. Its lowest rows may lie below the level. */
export const rectOfBundle = ({ rows, z }: LevelAt, { row, column }: BundleAt): TileRect =>
  asTileRect({
    z,
    minX: column,
    maxX: column + SIDE - 1,
    minY: (rows ?? 0) - row - SIDE,
    maxY: (rows ?? 0) - 1 - row,
  });

export const touches = (a: TileRect, b: TileRect): boolean =>
  a.minX <= b.maxX && a.maxX >= b.minX && a.minY <= b.maxY && a.maxY >= b.minY;

/** Up to this many bundles are looked up by name. For a larger rectangle the directory is listed. */
const FEW_BUNDLES = 64;

/** Returns the bundles that may contain tiles of a rectangle. Some of them may not exist. */
export function bundlesOfRect(disk: Disk, level: LevelAt, rect: TileRect): readonly BundleAt[] {
  const { rows, path } = level;
  if (rows === undefined) return [];
  const top = Math.max(0, rows - 1 - rect.maxY);
  const bottom = Math.min(rows - 1, rows - 1 - rect.minY);
  const [firstRow, firstColumn] = [top - (top % SIDE), rect.minX - (rect.minX % SIDE)];
  const count = (Math.floor((bottom - firstRow) / SIDE) + 1) * (Math.floor((rect.maxX - firstColumn) / SIDE) + 1);
  if (count > FEW_BUNDLES) return bundlesIn(disk, level).filter((bundle) => touches(rectOfBundle(level, bundle), rect));
  const bundles: BundleAt[] = [];
  for (let row = firstRow; row <= bottom; row += SIDE)
    for (let column = firstColumn; column <= rect.maxX; column += SIDE) bundles.push(bundleAt(path, row, column));
  return bundles;
}

/** Returns the bundles of a level. Skips other files. */
export function bundlesIn(disk: Disk, { path }: Pick<LevelAt, "path">): readonly BundleAt[] {
  return namesIn(disk, path).flatMap((name) => {
    const found = /^R([0-9a-f]{4,})C([0-9a-f]{4,})\.bundle$/.exec(name);
    if (found === null) return [];
    const [row, column] = [Number.parseInt(found[1] ?? "", 16), Number.parseInt(found[2] ?? "", 16)];
    return row % SIDE === 0 && column % SIDE === 0 && bundleAt(path, row, column).path === `${path}/${name}`
      ? [bundleAt(path, row, column)]
      : [];
  });
}
