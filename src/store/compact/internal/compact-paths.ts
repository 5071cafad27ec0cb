import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { threadId } from "node:worker_threads";
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
import { formatOf, formatOfExtension } from "../../../layer/format.ts";
import type { FormatName, LayerName, TileSet } from "../../../layer/tile-set.ts";
import { directoryName } from "../../file/file-layout.ts";
import type { GridSets } from "../../grid-sets.ts";
import { expectPresent, namesIn, rootCheck } from "../../internal/directories.ts";
import { pyramidDirectory } from "../../internal/pyramid-directory.ts";
import { readRegular } from "../../internal/regular-file.ts";
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
let temporaries = 0;

export interface CompactStoreOptions {
  readonly root: string;
  /** The name of the store in messages. Absent: "the store". */
  readonly name?: string;
  /**
   * Whether every tile is synced to the disk. A sync costs a few ms per tile, and the tile survives a power loss at
   * once.
   */
  readonly fsync: boolean;
  /** Differs for each process. */
  readonly instance: string;
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

const extensionOf = (format: FormatName): string => formatOf(format)?.extension ?? "unknown";
const hex = (n: number): string => n.toString(16).padStart(4, "0");

/** The directories of a compact store. */
export class CompactPaths {
  readonly root: string;
  readonly fsync: boolean;
  readonly gridSets: GridSets;
  /** @throws StoreError when the directory of the store is unavailable */
  readonly expectRoot: () => void;
  readonly #instance: string;

  constructor({ root, name, fsync, instance, gridSets }: CompactStoreOptions) {
    this.root = root;
    this.fsync = fsync;
    this.gridSets = gridSets;
    this.#instance = instance;
    mkdirSync(root, { recursive: true });
    this.expectRoot = rootCheck(root, name);
  }

  /** Returns the name of a new temporary file. */
  temporaryName(): string {
    return `.nuthatch-${this.#instance}-${process.pid}-${threadId}-${temporaries++}`;
  }

  layerPath(layer: LayerName): string {
    return `${this.root}/${directoryName(layer)}`;
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
    const rows = existsSync(file) ? Number(readRegular(file, "utf8") ?? Number.NaN) : Number.NaN;
    return Number.isSafeInteger(rows) && rows > 0 ? rows : undefined;
  }

  /** Returns the extensions of the pyramid's formats that have a directory. */
  formats(pyramid: StoredPyramid): readonly FormatName[] {
    const names = namesIn(this.pyramidPath(pyramid));
    return names.flatMap((name) => {
      const format = formatOfExtension(name);
      return format?.extension === name ? [format.mimeType] : [];
    });
  }

  /** Returns a level in all formats that have a directory. */
  levelsAt(pyramid: StoredPyramid, z: Zoom): readonly LevelAt[] {
    return this.formats(pyramid)
      .map((format) => this.level({ ...pyramid, format }, z))
      .filter(({ path }) => existsSync(path));
  }

  /** @throws StoreError when the directory of the store, of the layer or one of `directories` is unavailable */
  expectPresent(layer: LayerName, ...directories: readonly string[]): void {
    this.expectRoot();
    for (const directory of [this.layerPath(layer), ...directories]) expectPresent(this.root, directory);
  }

  /** Returns the names in a layer's directory. */
  namesInLayer(layer: LayerName): string[] {
    const names = namesIn(this.layerPath(layer));
    if (names.length === 0) this.expectPresent(layer);
    return names;
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
export function bundlesOfRect(level: LevelAt, rect: TileRect): readonly BundleAt[] {
  const { rows, path } = level;
  if (rows === undefined) return [];
  const top = Math.max(0, rows - 1 - rect.maxY);
  const bottom = Math.min(rows - 1, rows - 1 - rect.minY);
  const [firstRow, firstColumn] = [top - (top % SIDE), rect.minX - (rect.minX % SIDE)];
  const count = (Math.floor((bottom - firstRow) / SIDE) + 1) * (Math.floor((rect.maxX - firstColumn) / SIDE) + 1);
  if (count > FEW_BUNDLES) return bundlesIn(level).filter((bundle) => touches(rectOfBundle(level, bundle), rect));
  const bundles: BundleAt[] = [];
  for (let row = firstRow; row <= bottom; row += SIDE)
    for (let column = firstColumn; column <= rect.maxX; column += SIDE) bundles.push(bundleAt(path, row, column));
  return bundles;
}

/** Returns the bundles of a level. Skips other files. */
export function bundlesIn({ path }: Pick<LevelAt, "path">): readonly BundleAt[] {
  return namesIn(path).flatMap((name) => {
    const found = /^R([0-9a-f]{4,})C([0-9a-f]{4,})\.bundle$/.exec(name);
    if (found === null) return [];
    const [row, column] = [Number.parseInt(found[1] ?? "", 16), Number.parseInt(found[2] ?? "", 16)];
    return row % SIDE === 0 && column % SIDE === 0 && bundleAt(path, row, column).path === `${path}/${name}`
      ? [bundleAt(path, row, column)]
      : [];
  });
}
