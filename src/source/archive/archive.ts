import type { Extent } from "../../grid/grid-set.ts";
import type { TileFormat } from "../../layer/format.ts";
import type { VectorLayer } from "../../layer/layer.ts";
import { codeOf } from "../../lib/error-code.ts";
import { SourceError } from "../source.ts";
import type { UpstreamTile } from "../tiles/tile-template.ts";

/** No tile, directory or metadata that is read from an archive is larger. */
export const ARCHIVE_READ_LIMIT = 32 * 1024 * 1024;

/** What an archive says of itself. */
export interface ArchiveFacts {
  readonly format: TileFormat;
  readonly minZoom: number;
  readonly maxZoom: number;
  /** Longitude and latitude; undefined: it does not say, or nothing that can be meant. */
  readonly bounds: Extent | undefined;
  /** Of vector tiles; undefined: it does not say. */
  readonly vectorLayers: readonly VectorLayer[] | undefined;
}

/** A file of tiles, open for reading. @throws SourceError, and nothing else; without the path of the file */
export interface Archive extends AsyncDisposable {
  facts(): Promise<ArchiveFacts>;
  /** As it is kept, gzip of vector tiles perhaps still on it; undefined: the archive has none there. */
  tile(at: UpstreamTile): Promise<Uint8Array | undefined>;
}

/** What the archive holds is wrong. Its own names may be part of `why`: control characters must not reach a log line. */
export const damaged = (why: string, cause?: unknown): SourceError =>
  new SourceError("wrong_type", `the archive is damaged: ${why.replace(/[\s\p{C}]+/gu, " ").slice(0, 300)}`, { cause });

/** It cannot be read now, which may pass. */
export const unreadable = (why: string, cause?: unknown): SourceError =>
  new SourceError("refused", `the archive cannot be read: ${why}`, { cause });

/** A fault of the file system, without the path in its message. */
export function fileFault(error: unknown): SourceError {
  const code = codeOf(error);
  return unreadable(code === "ENOENT" ? "there is no such file" : code || "an unknown fault", error);
}
