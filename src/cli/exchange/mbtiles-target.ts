import { renameSync } from "node:fs";
import { gzipSync } from "node:zlib";
import type { TileFormat } from "../../layer/format.ts";
import type { ExportFacts, ExportProgress, ExportTarget, ExportTile } from "./export-target.ts";
import { StagedTiles } from "./staged-tiles.ts";
import { syncFile } from "./sync-file.ts";

export interface ArchiveOptions {
  readonly to: string;
  readonly format: TileFormat;
  readonly purpose: string;
  readonly isContinued: boolean;
}

/** The name of an unfinished archive. */
export const unfinishedName = (to: string): string => `${to}.part`;

/** Compresses vector tiles with gzip, as archives require (MBTiles 1.3, Vector tiles). */
export const packedFor = (format: TileFormat, bytes: Uint8Array): Uint8Array =>
  format.kind === "data" ? gzipSync(bytes) : bytes;

/** Writes an archive of MBTiles 1.3. Stores equal small tiles once, in `map` and `images` behind the view `tiles`. */
export function mbtilesTarget({ to, format, purpose, isContinued }: ArchiveOptions): ExportTarget {
  const staged = new StagedTiles({ file: unfinishedName(to), purpose, isContinued });
  const put = staged.db.prepare("INSERT OR REPLACE INTO map VALUES (?, ?, ?, ?)");
  let isOpen = true;
  let isFinished = false;
  const closeFile = (): void => {
    if (isOpen) staged.close();
    isOpen = false;
  };
  return {
    begun: staged.begun,
    add(tiles: readonly ExportTile[], progress: ExportProgress) {
      staged.page(progress, (image) => {
        for (const { z, x, fromTop, bytes } of tiles)
          put.run([z, x, 2 ** z - 1 - fromTop, image(packedFor(format, bytes))]);
      });
    },
    async finish(facts) {
      const add = staged.db.prepare("INSERT INTO metadata VALUES (?, ?)");
      staged.db.exec("BEGIN; DELETE FROM metadata");
      for (const [name, value] of Object.entries(metadataOf(facts, format))) add.run([name, value]);
      staged.dropOwnTables();
      staged.db.exec("COMMIT");
      closeFile();
      syncFile(unfinishedName(to));
      renameSync(unfinishedName(to), to);
      isFinished = true;
    },
    close(unfinished) {
      closeFile();
      if (unfinished === "remove" && !isFinished) staged.remove();
    },
  };
}

/**
 * The names of formats (MBTiles 1.3, Metadata): `png`, `jpg`, `webp` and `pbf`. Other formats have their media type.
 */
const NAMES: ReadonlyMap<string, string> = new Map([
  ["image/png", "png"],
  ["image/jpeg", "jpg"],
  ["image/webp", "webp"],
  ["application/vnd.mapbox-vector-tile", "pbf"],
]);

function metadataOf(facts: ExportFacts, format: TileFormat): Readonly<Record<string, string>> {
  const { name, description, bounds, minZoom, maxZoom, vectorLayers } = facts;
  const [west, south, east, north] = bounds;
  const type = format.contentType ?? format.mimeType;
  return {
    name,
    format: NAMES.get(type) ?? type,
    bounds: bounds.join(","),
    center: `${(west + east) / 2},${(south + north) / 2},${minZoom}`,
    minzoom: String(minZoom),
    maxzoom: String(maxZoom),
    ...(description === "" ? {} : { description }),
    type: type === "image/jpeg" ? "baselayer" : "overlay",
    ...(vectorLayers === undefined ? {} : { json: JSON.stringify({ vector_layers: vectorLayers }) }),
  };
}
