import { dirname, join } from "node:path";
import type { ArcgisCacheSourceOptions } from "../../layer/source-options.ts";
import { readTileFile } from "../disk/disk-tiles.ts";
import { type Source, SourceError } from "../source.ts";
import { tileOf, type UpstreamTile } from "../tiles/tile-template.ts";
import { readBundleTile } from "./bundles.ts";

/** Creates a source that reads the tiles of an ArcGIS cache on a disk. */
export function createArcgisCacheSource(options: ArcgisCacheSourceOptions): Source {
  return {
    async render(request, signal) {
      if (signal.aborted) throw new SourceError("cancelled", "cancelled", { cause: signal.reason });
      const at = tileOf(request);
      const bytes = await readTile(options, at);
      // A missing tile is not a fault, because caches have no tiles outside of the cached area.
      if (bytes === undefined) throw new SourceError("no_tile", `the cache has no tile ${at.z}/${at.x}/${at.fromTop}`);
      return { kind: "encoded", bytes };
    },
    async [Symbol.asyncDispose]() {},
  };
}

/** The file extensions of each tile format, in the order in which they are tried. */
const EXTENSIONS = { png: ["png"], jpeg: ["jpg"], mixed: ["jpg", "png"] } as const;

async function readTile(
  {
    storage,
    path,
    tilesPath = join(dirname(path), "_alllayers"),
    levels,
    hexZoom,
    tileFormat,
  }: ArcgisCacheSourceOptions,
  { z, x, fromTop }: UpstreamTile,
): Promise<Uint8Array | undefined> {
  const level = levels[z];
  if (level === undefined) return undefined;
  const at = { row: fromTop, column: x };
  switch (storage) {
    case "esriMapCacheStorageModeCompact":
      return readBundleTile(`${tilesPath}/L${padded(level, 2)}`, at, 1);
    case "esriMapCacheStorageModeCompactV2":
      return readBundleTile(`${tilesPath}/L${padded(level, 2)}`, at, 2);
    case "esriMapCacheStorageModeExploded": {
      const directory = `${tilesPath}/L${padded(level, 2, hexZoom ? 16 : 10)}`;
      for (const extension of EXTENSIONS[tileFormat]) {
        const file = `${directory}/R${padded(fromTop, 8, 16)}/C${padded(x, 8, 16)}.${extension}`;
        const bytes = await readTileFile(file, 0);
        if (bytes !== undefined) return bytes;
      }
      return undefined;
    }
  }
}

const padded = (n: number, digits: number, base = 10): string => n.toString(base).padStart(digits, "0");
