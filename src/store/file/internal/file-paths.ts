import { dirname, join } from "node:path";
import type { Zoom } from "../../../grid/grid-set.ts";
import { extensionOf } from "../../../layer/format.ts";
import type { LayerName, TileAddress } from "../../../layer/tile-set.ts";
import type { Disk } from "../../../lib/file/disk.ts";
import type { Machine } from "../../../lib/machine.ts";
import type { GridSets } from "../../grid-sets.ts";
import { namesIn, removeIfEmpty } from "../../internal/directories.ts";
import { isAbsent, storeError } from "../../internal/faults.ts";
import { readRegular } from "../../internal/regular-file.ts";
import { StoreDirectory, type StoreDirectoryOptions } from "../../internal/store-directory.ts";
import type { StoredPyramid } from "../../inventory-store.ts";
import type { FileLayout } from "../../store-options.ts";
import { StoreError } from "../../tile-store.ts";
import { gwcLayout } from "./gwc-layout.ts";
import type { FoundLevel, LevelDirectory, TileLayout } from "./tile-layout.ts";
import { xyzLayout } from "./xyz-layout.ts";

export interface FileStoreOptions extends StoreDirectoryOptions {
  /** Absent: GWC's default layout. */
  readonly layout?: FileLayout;
  /** For layouts whose rows count from the top. */
  readonly gridSets?: GridSets;
}

const layoutOf = (layout: FileLayout, machine: Pick<Machine, "clock" | "disk">): TileLayout => {
  switch (layout) {
    case "gwc":
      return gwcLayout(machine);
    case "tms":
      return xyzLayout(machine, "bottom");
    case "slippy":
      return xyzLayout(machine, "top");
  }
};

/** The file in a pyramid's directory with the number of rows of each level, as a JSON list. */
const ROWS_FILE = ".nuthatch-rows";

/** The block size if the file system does not report it. GWC assumes the same. */
const USUAL_BLOCK_BYTES = 4096;
const LARGEST_BLOCK_BYTES = 65_536;

/**
 * Returns the size in bytes of the blocks in which the disk allocates space for a file. Some file systems, such as
 * network file systems and ZFS, report the size of their transfers or records instead, up to several MiB, although a
 * small file takes less.
 */
export const blockBytesOf = (reported: number): number =>
  reported >= 512 && reported <= LARGEST_BLOCK_BYTES ? reported : USUAL_BLOCK_BYTES;

/** The types of NFS, SMB 1 to 3, FUSE, Ceph, 9P, AFS and Lustre in Linux's `statfs` (linux/magic.h). */
const NETWORK_TYPES: ReadonlySet<number> = new Set([
  0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x65735546, 0x00c36400, 0x01021997, 0x5346414f, 0x0bd00bd0,
]);

/** The directories of a file store, and the state that the parts of the store share. */
export class FilePaths extends StoreDirectory {
  /** The size in bytes of the blocks in which the disk allocates space for a tile. */
  readonly blockBytes: number;
  /** Whether the file system is a network file system or implemented by a program, so that it may hang. */
  readonly isOnNetwork: boolean;
  readonly layout: TileLayout;
  readonly #gridSets: GridSets;
  #lastLevel: (StoredPyramid & { readonly z: Zoom; readonly path: string }) | undefined;

  constructor({ layout = "gwc", gridSets = () => undefined, ...options }: FileStoreOptions) {
    super(options);
    this.layout = layoutOf(layout, options.machine);
    this.#gridSets = gridSets;
    const { bsize, type } = this.disk.statfsSync(this.root);
    this.blockBytes = blockBytesOf(bsize);
    this.isOnNetwork = NETWORK_TYPES.has(type);
  }

  zoomPath(pyramid: StoredPyramid, z: Zoom): string {
    const { layer, gridSet, parametersId } = pyramid;
    const last = this.#lastLevel;
    if (
      last !== undefined &&
      last.layer === layer &&
      last.gridSet === gridSet &&
      last.parametersId === parametersId &&
      last.z === z
    )
      return last.path;
    const path = `${this.layerPath(layer)}/${this.layout.levelDirectory(pyramid, z)}`;
    this.#lastLevel = { layer, gridSet, parametersId, z, path };
    return path;
  }

  level(pyramid: StoredPyramid, z: Zoom): LevelDirectory {
    return { path: this.zoomPath(pyramid, z), z, rows: this.rowsOf(pyramid, z) };
  }

  /** Returns the number of rows of a level. Undefined if the layout does not need it, or if it is unknown. */
  rowsOf(pyramid: StoredPyramid, z: Zoom): number | undefined {
    if (!this.layout.countsFromTop) return undefined;
    const gridSet = this.#gridSets(pyramid.gridSet);
    return gridSet === undefined ? readRows(this.disk, this.#rowsFile(pyramid))[z] : gridSet.matrices[z]?.matrixHeight;
  }

  /** Returns the directory of a pyramid, or of its layer if the layout has none for a pyramid. */
  pyramidPath(pyramid: StoredPyramid): string {
    return join(this.layerPath(pyramid.layer), this.layout.pyramidDirectory(pyramid) ?? "");
  }

  #rowsFile(pyramid: StoredPyramid): string {
    return join(this.pyramidPath(pyramid), ROWS_FILE);
  }

  /**
   * Writes the number of rows of a pyramid's levels into its directory, because the grid set may be removed from the
   * configuration before the tiles.
   */
  describeRows(pyramid: StoredPyramid): void {
    if (!this.layout.countsFromTop) return;
    const rows = this.#gridSets(pyramid.gridSet)?.matrices.map(({ matrixHeight }) => matrixHeight);
    const file = this.#rowsFile(pyramid);
    if (rows === undefined || (this.disk.statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0) return;
    try {
      this.disk.mkdirSync(this.pyramidPath(pyramid), { recursive: true });
      this.writeWhole(file, JSON.stringify(rows), "utf8");
    } catch (error) {
      // A truncation has moved the directory away. The put begins again.
      if (!isAbsent(error)) throw error;
    }
  }

  /** Returns the directory of a tile's file. */
  bucketPath({ tileSet, x, y, z }: TileAddress): string {
    return `${this.zoomPath(tileSet, z)}/${this.layout.bucket(x, y, z)}`;
  }

  /** Returns the path of a tile's file. */
  tile(at: TileAddress): string {
    return `${this.bucketPath(at)}/${this.fileOf(at)}`;
  }

  fileOf({ tileSet, x, y, z }: TileAddress): string {
    return this.layout.file(x, y, z, extensionOf(tileSet.format), this.rowsOf(tileSet, z));
  }

  /** Checks that the tile's file name can be computed. @throws StoreError when the rows of its level are unknown */
  expectNamed({ tileSet, y, z }: TileAddress): void {
    if (!this.layout.countsFromTop) return;
    const rows = this.rowsOf(tileSet, z);
    if (rows === undefined || y >= rows)
      throw new StoreError(
        "corrupt",
        `no row ${y} of level ${z} of the grid set ${tileSet.gridSet} is known`,
        undefined,
      );
  }

  /** Checks the directories of a level too. @throws StoreError as `expectPresent` */
  expectLevelPresent(layer: LayerName, level: string): void {
    const above = dirname(level);
    this.expectPresent(layer, ...(above === this.layerPath(layer) ? [level] : [above, level]));
  }

  /** Returns the levels in a layer's directory. */
  levels(layer: LayerName): readonly FoundLevel[] {
    return this.layout.levels(this.layerPath(layer), this.namesInLayer(layer));
  }

  /** Removes the remaining files of a pyramid without levels. @returns false if its directory contains anything else */
  removePyramid(pyramid: StoredPyramid): boolean {
    const directory = this.layout.pyramidDirectory(pyramid);
    if (directory === undefined) return true;
    const path = join(this.layerPath(pyramid.layer), directory);
    if (removeIfEmpty(this.disk, path)) return true;
    if (namesIn(this.disk, path).some((name) => name !== ROWS_FILE)) return false;
    try {
      this.disk.rmSync(join(path, ROWS_FILE), { force: true });
    } catch (error) {
      if (!isAbsent(error)) throw storeError(error, "a file of the store cannot be removed");
    }
    return removeIfEmpty(this.disk, path);
  }
}

/** Returns the numbers of rows in a file; empty if the file does not exist. Undefined for a level without a number. */
function readRows(disk: Disk, file: string): readonly (number | undefined)[] {
  try {
    const rows: unknown = JSON.parse(readRegular(disk, file, "utf8") ?? "[]");
    return Array.isArray(rows) ? rows.map((n) => (Number.isSafeInteger(n) && n > 0 ? Number(n) : undefined)) : [];
  } catch (error) {
    if (isAbsent(error) || error instanceof SyntaxError) return [];
    throw storeError(error, "a file of the store cannot be read");
  }
}
