import type { Extent } from "../../grid/grid-set.ts";
import type { TileFormat } from "../../layer/format.ts";
import type { VectorLayer } from "../../layer/layer.ts";
import { codeOf } from "../../lib/error-code.ts";
import { SourceError } from "../source.ts";
import type { UpstreamTile } from "../tiles/tile-template.ts";

/** The size limit in bytes of a tile, a directory or metadata that is read from an archive. */
export const ARCHIVE_READ_LIMIT = 32 * 1024 * 1024;

/** The metadata of an archive. */
export interface ArchiveFacts {
  /** The name in the metadata of an MBTiles archive. Undefined if it has no name. */
  readonly name?: string | undefined;
  readonly format: TileFormat;
  /**
   * The side of a sample picture in pixels. Undefined if the archive has no pictures or the side cannot be determined.
   */
  readonly tileSize: number | undefined;
  readonly minZoom: number;
  readonly maxZoom: number;
  /** Longitude and latitude. Undefined if the archive has no valid bounds. */
  readonly bounds: Extent | undefined;
  /** The layers of vector tiles. Undefined if the archive does not list them. */
  readonly vectorLayers: readonly VectorLayer[] | undefined;
  /** The attribution to show beside a map, as HTML. */
  readonly attribution?: string;
}

/**
 * An open file of tiles. The only error that its methods throw is a SourceError, whose message does not contain the
 * path of the file.
 */
export interface Archive extends AsyncDisposable {
  facts(): Promise<ArchiveFacts>;
  /**
   * Returns a tile unchanged; a vector tile may still be compressed by gzip. Undefined if the archive has no such tile.
   */
  tile(at: UpstreamTile): Promise<Uint8Array | undefined>;
}

/**
 * Returns the error for invalid content. Replaces control characters of the archive in `why`, which must not reach a
 * log.
 */
export const damaged = (why: string, cause?: unknown): SourceError =>
  new SourceError("wrong_type", `the archive is damaged: ${why.replace(/[\s\p{C}]+/gu, " ").slice(0, 300)}`, { cause });

/** Returns the error for an archive that cannot be read at present. */
export const unreadable = (why: string, cause?: unknown): SourceError =>
  new SourceError("refused", `the archive cannot be read: ${why}`, { cause });

/** Converts a fault of the file system to an error without the path in its message. */
export function unreadableFile(error: unknown): SourceError {
  const code = codeOf(error);
  return unreadable(code === "ENOENT" ? "there is no such file" : code || "an unknown fault", error);
}
