/**
 * The directories and names of tiles that another program has written. `tc`, `mp`, `tms`, `reverse_tms` and `quadkey`
 * are those of MapProxy; MapCache's default layout is `tc` too.
 */
export const DISK_LAYOUTS = ["tc", "mp", "tms", "reverse_tms", "quadkey", "arcgis", "worldwind"] as const;
export type DiskLayout = (typeof DISK_LAYOUTS)[number];

/** Tiles of one grid set and one format that another program has written. They are read and never changed. */
export interface TilesOnDisk {
  /** The id of a grid set of the layer. */
  readonly gridSet: string;
  /** MIME type. Absent: the layer's first format. */
  readonly format?: string;
  /** The absolute path of the directory. Without a layout the path of a tile, with {z}, {x} and {y} or {-y}. */
  readonly path: string;
  readonly layout?: DiskLayout;
  /** Where a layout counts rows from. A path with placeholders says it itself. */
  readonly rows: "bottom" | "top";
  /** The end of the names of files, without the dot. Absent: that of the format. */
  readonly extension?: string;
}
