import type { Dirent } from "node:fs";
import type { TileRect, TileX, TileY, Zoom } from "../../../grid/grid-set.ts";
import type { ParametersId } from "../../../layer/tile-set.ts";
import type { Owned } from "../../internal/layer-directory.ts";
import type { LevelChanges, Region, StoredPyramid } from "../../inventory-store.ts";

/** The directory of a level. */
export interface LevelDirectory {
  readonly path: string;
  readonly z: Zoom;
  /** The rows of the level, for layouts that count from the top. Undefined if unknown; then no tile can be found. */
  readonly rows: number | undefined;
}

/** A level found in a layer's directory. */
export interface FoundLevel {
  /** The path relative to the directory of the layer. */
  readonly name: string;
  /** The grid set in the directory's spelling. */
  readonly gridSetDirectory: string;
  readonly parametersId: ParametersId;
  readonly z: Zoom;
}

/**
 * A tile parsed from the names of its file and directory. Other names may denote the same tile; `file` is the tile's
 * canonical file name.
 */
export interface NamedTile {
  readonly x: TileX;
  readonly y: TileY;
  readonly extension: string;
}

type PyramidPart = Pick<StoredPyramid, "gridSet" | "parametersId">;

/**
 * The names of directories and files of a file store. A level has a directory with bucket directories, which contain
 * tiles. Positions of tiles count from the bottom, as everywhere in the program.
 */
export interface TileLayout {
  /** Whether names count rows from the top. If so, the number of rows of a level must be known. */
  readonly countsFromTop: boolean;
  /** Returns the path of a level's directory, relative to the layer's directory. */
  levelDirectory(pyramid: PyramidPart, z: Zoom): string;
  /** Returns the levels in a layer's directory, whose entries are `names`. @throws StoreError */
  levels(layerDirectory: string, names: readonly string[]): readonly FoundLevel[];
  /** Returns which parts of an entry in a layer's directory belong to the store. @throws StoreError */
  ownedOf(layerDirectory: string, entry: Dirent): Owned;
  bucket(x: TileX, y: TileY, z: Zoom): string;
  /**
   * Returns the name of a tile's file in its bucket. If the rows are needed but undefined, returns a name that no tile
   * has.
   */
  file(x: TileX, y: TileY, z: Zoom, extension: string, rows: number | undefined): string;
  /** Returns the tile of a file. Undefined if the file is not a tile. */
  parse(bucket: string, file: string, rows: number | undefined): NamedTile | undefined;
  /** Yields the buckets that a rectangle of tiles overlaps. */
  bucketsOfRect(rect: TileRect): Iterable<string>;
  /** Returns whether the bucket with this name may contain tiles of a rectangle. */
  touches(bucket: string, rect: TileRect): boolean;
  /** Returns whether listing a bucket may cost more than looking up the tiles of a cell one by one. */
  hasLargeBuckets(z: Zoom): boolean;
  regions(level: LevelDirectory, after: string | undefined): AsyncIterable<Region>;
  changes(level: LevelDirectory, sinceMs: number): LevelChanges;
  /**
   * Returns the path of the directory that the levels of a pyramid share, relative to the layer's directory. Undefined
   * if they do not share one.
   */
  pyramidDirectory(pyramid: PyramidPart): string | undefined;
}
