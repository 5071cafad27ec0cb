/**
 * The layouts of directories and file names of tiles that another program has written. `tc`, `mp`, `tms`, `reverse_tms`
 * and `quadkey` are layouts of MapProxy; `tc` is also MapCache's default.
 */

import type { GridSetName } from "../grid/grid-set.ts";
import type { FormatName } from "./tile-set.ts";
export const DISK_LAYOUTS = ["tc", "mp", "tms", "reverse_tms", "quadkey", "arcgis", "worldwind"] as const;
export type DiskLayout = (typeof DISK_LAYOUTS)[number];

/** Tiles of one grid set and one format that another program has written. They are read and never changed. */
export interface TilesOnDisk {
  /** The id of a grid set of the layer. */
  readonly gridSet: GridSetName;
  /** MIME type. Absent: the layer's default format. */
  readonly format?: FormatName;
  /**
   * With a layout, the absolute path of the directory. Without a layout, the path of a tile with {z}, {x} and {y} or
   * {-y}.
   */
  readonly path: string;
  readonly layout?: DiskLayout;
  /** The origin of row numbers in a layout. A path with placeholders states it itself. */
  readonly rows: "bottom" | "top";
  /** The extension of file names, without the dot. Absent: the extension of the format. */
  readonly extension?: string;
}
