import { BLOCK_SIDE } from "../../../layer/tile-set.ts";
import { mayBeDirectory } from "../../internal/layer-directory.ts";
import {
  bucketDirectory,
  bucketOf,
  bucketsOfRect,
  bucketTouches,
  parsePair,
  parseZoomDirectory,
  tileFile,
  zoomDirectory,
} from "../file-layout.ts";
import { changesOf } from "./changes.ts";
import { regionsOf } from "./regions.ts";
import type { TileLayout } from "./tile-layout.ts";

/** Grid sets have fewer levels. A larger number at the end of a foreign directory's name may be a year. */
const MOST_LEVELS = 100;

/** GWC's default layout. */
export const gwcLayout: TileLayout = {
  countsFromTop: false,
  levelDirectory: ({ gridSet, parametersId }, z) => zoomDirectory(gridSet, z, parametersId),
  levels: (_, names) =>
    names.flatMap((name) => {
      const parsed = parseZoomDirectory(name);
      return parsed === undefined ? [] : [{ name, ...parsed }];
    }),
  ownedOf: (_, entry) => {
    const parsed = parseZoomDirectory(entry.name);
    return parsed !== undefined && parsed.z < MOST_LEVELS && mayBeDirectory(entry) ? "all" : [];
  },
  bucket: bucketDirectory,
  file: tileFile,
  parse: (_, file) => parsePair(file),
  bucketsOfRect,
  touches: bucketTouches,
  hasLargeBuckets: (z) => bucketOf(z).half > BLOCK_SIDE / 4,
  regions: ({ path, z }, after) => regionsOf(path, z, after),
  changes: ({ path, z }, sinceMs) => changesOf(path, z, sinceMs),
  pyramidDirectory: () => undefined,
};
