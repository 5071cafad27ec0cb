import type { Dirent } from "node:fs";
import type { TileRect } from "../../../grid/grid-set.ts";
import type { Owned } from "../../internal/layer-directory.ts";
import type { LevelChanges, Region, StoredPyramid } from "../../inventory-store.ts";

/** The directory of a level. */
export interface LevelDirectory {
  readonly path: string;
  readonly z: number;
  /** The rows of the level, for layouts that count from the top; undefined: not known, and no tile can be found. */
  readonly rows: number | undefined;
}

/** A level that a layer's directory holds. */
export interface FoundLevel {
  /** Relative to the directory of the layer. */
  readonly name: string;
  /** The grid set as the directory spells it. */
  readonly gridSetDirectory: string;
  readonly parametersId: string;
  readonly z: number;
}

/** A tile as the names of its file and directory tell it. Other names may tell the same tile: `file` returns its own. */
export interface NamedTile {
  readonly x: number;
  readonly y: number;
  readonly extension: string;
}

type PyramidPart = Pick<StoredPyramid, "gridSet" | "parametersId">;

/**
 * The names of directories and files of a file store. A level has a directory, and in it directories of tiles: buckets.
 * Places of tiles count from the bottom, as everywhere.
 */
export interface TileLayout {
  /** Whether names count rows from the top, so that the rows of a level must be known. */
  readonly countsFromTop: boolean;
  /** Returns the directory of a level, relative to the layer's. */
  levelDirectory(pyramid: PyramidPart, z: number): string;
  /** Returns the levels in a layer's directory, of which `names` are the names. @throws StoreError */
  levels(layerDirectory: string, names: readonly string[]): readonly FoundLevel[];
  /** Returns which names of an entry in a layer's directory belong to the store. @throws StoreError */
  ownedOf(layerDirectory: string, entry: Dirent): Owned;
  bucket(x: number, y: number, z: number): string;
  /** Returns the name of a tile's file in its bucket. Without the rows that it needs: a name that no tile has. */
  file(x: number, y: number, z: number, extension: string, rows: number | undefined): string;
  /** Returns the tile that a file is; undefined: it is none. */
  parse(bucket: string, file: string, rows: number | undefined): NamedTile | undefined;
  /** Yields the buckets that a rectangle of tiles touches. */
  bucketsOfRect(rect: TileRect): Iterable<string>;
  /** Returns whether the bucket with this name may hold tiles of a rectangle. */
  touches(bucket: string, rect: TileRect): boolean;
  /** Returns whether listing a bucket may cost more than looking at the tiles of a cell one by one. */
  hasLargeBuckets(z: number): boolean;
  regions(level: LevelDirectory, after: string | undefined): AsyncIterable<Region>;
  changes(level: LevelDirectory, sinceMs: number): LevelChanges;
  /** Returns the directory that the levels of a pyramid share, relative to the layer's; undefined: they share none. */
  pyramidDirectory(pyramid: PyramidPart): string | undefined;
}
