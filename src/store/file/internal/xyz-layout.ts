import { join } from "node:path";
import { asTileX, asTileY, asZoom } from "../../../grid/grid-set.ts";
import type { Machine } from "../../../lib/machine.ts";
import { namesIn } from "../../internal/directories.ts";
import { mayBeDirectory, ownedIn } from "../../internal/layer-directory.ts";
import { parsePyramidDirectory, pyramidDirectory } from "../file-layout.ts";
import { changesOfColumns, columnOf, regionsOfColumns } from "./columns.ts";
import type { TileLayout } from "./tile-layout.ts";

/** The file name for a level whose number of rows is unknown. No tile has this name. */
const NO_ROWS = ".nuthatch-rows-unknown";
/** Up to this level, a column has so few rows that listing it costs little. */
const LAST_SMALL_LEVEL = 6;

/**
 * GWC's layouts TMS and SLIPPY: `GRIDSET[_PARAMETERSID]/Z/X/Y.EXT`, with numbers without leading zeros. Rows count from
 * the bottom (TMS) or from the top (SLIPPY).
 */
export function xyzLayout(machine: Pick<Machine, "clock" | "disk">, rowsCountFrom: "bottom" | "top"): TileLayout {
  const { disk } = machine;
  const countsFromTop = rowsCountFrom === "top";
  /**
   * Converts a row of a file name to a row of a tile, or the reverse. Undefined if the row is outside of the level, or
   * the number of rows is unknown.
   */
  const turned = (row: number, rows: number | undefined): number | undefined => {
    if (!countsFromTop) return row;
    return rows === undefined || row < 0 || row >= rows ? undefined : rows - 1 - row;
  };

  const names: Pick<TileLayout, "bucket" | "file" | "parse"> = {
    bucket: (x) => String(x),
    file(_x, y, _z, extension, rows) {
      const row = turned(y, rows);
      return row === undefined ? NO_ROWS : `${row}.${extension}`;
    },
    parse(bucket, file, rows) {
      const found = /^(\d{1,10})\.([\w-]+)$/.exec(file);
      const x = columnOf(bucket);
      const y = found === null ? undefined : turned(Number(found[1]), rows);
      return x === undefined || y === undefined
        ? undefined
        : { x: asTileX(x), y: asTileY(y), extension: found?.[2] ?? "" };
    },
  };
  return {
    ...names,
    countsFromTop,
    levelDirectory: (pyramid, z) => `${pyramidDirectory(pyramid)}/${z}`,
    levels: (layerDirectory, found) =>
      found.flatMap((name) => {
        const parsed = parsePyramidDirectory(name);
        if (parsed === undefined) return [];
        return namesIn(disk, join(layerDirectory, name)).flatMap((level) => {
          const z = columnOf(level);
          return z === undefined ? [] : [{ name: `${name}/${level}`, ...parsed, z: asZoom(z) }];
        });
      }),
    ownedOf: (layerDirectory, entry) =>
      parsePyramidDirectory(entry.name) !== undefined && mayBeDirectory(entry)
        ? ownedIn(
            disk,
            join(layerDirectory, entry.name),
            (level) => columnOf(level.name) !== undefined && mayBeDirectory(level),
          )
        : [],
    *bucketsOfRect({ minX, maxX }) {
      for (let x = minX; x <= maxX; x++) yield String(x);
    },
    touches(bucket, { minX, maxX }) {
      const x = columnOf(bucket);
      return x !== undefined && x >= minX && x <= maxX;
    },
    hasLargeBuckets: (z) => z > LAST_SMALL_LEVEL,
    regions: (level, after) => regionsOfColumns(machine, level, after, names),
    changes: (level, sinceMs) => changesOfColumns(disk, level, sinceMs, names),
    pyramidDirectory,
  };
}
