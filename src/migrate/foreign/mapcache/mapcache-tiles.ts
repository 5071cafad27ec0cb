import { join, resolve } from "node:path";
import type { Content } from "../../../lib/is-map.ts";
import type { ForeignGrid } from "../foreign-grid.ts";
import type { ForeignObject } from "../foreign-object.ts";

/** A grid of a tileset, and its name in MapCache. */
export interface NamedGrid {
  readonly name: string;
  readonly grid: ForeignGrid;
}

interface TileNames {
  readonly tileset: string;
  readonly mimeType: string;
  readonly extension: string;
  /** The directory that relative paths start from. */
  readonly directory: string;
}

/** Returns the tiles of a tileset in a disk cache. If they cannot be read here, reports that and returns none. */
export function mapCacheTiles(
  cache: ForeignObject,
  grids: readonly NamedGrid[],
  { tileset, mimeType, extension, directory }: TileNames,
): readonly Content[] {
  const layout = cache.text("@layout") ?? "default";
  const template = cache.text("template");
  if (template !== undefined) {
    const paths = grids.map(({ name, grid }) => templatePath(template, { tileset, name, extension }, grid));
    if (paths.some((path) => path === undefined)) {
      cache.kept("template", "a part of it has no equivalent: the tiles are not read, they are rendered again");
      return [];
    }
    return grids.map(({ grid }, i) => ({
      gridSet: grid.id,
      format: mimeType,
      path: resolve(directory, paths[i] ?? ""),
    }));
  }
  const base = cache.text("base");
  const known = { default: "tc", arcgis: "arcgis", worldwind: "worldwind" }[layout];
  if (base === undefined || known === undefined) {
    cache.kept("@layout", "the layout is not known: the tiles are not read, they are rendered again");
    return [];
  }
  cache.differently("symlink_blank", "links are followed, and new tiles are files");
  return grids.map(({ name, grid }) => ({
    gridSet: grid.id,
    format: mimeType,
    // The tiles of WorldWind's layout have no directories for tileset and grid.
    path: layout === "worldwind" ? resolve(directory, base) : join(resolve(directory, base), tileset, name),
    layout: known,
    ...(grid.rows === "top" ? { rows: "top" } : {}),
    extension,
  }));
}

/** Returns a path with placeholders. Undefined if Nuthatch lacks one of the placeholders. */
function templatePath(
  template: string,
  { tileset, name, extension }: { readonly tileset: string; readonly name: string; readonly extension: string },
  { rows }: ForeignGrid,
): string | undefined {
  const [row, inverted] = rows === "bottom" ? ["{-y}", "{y}"] : ["{y}", "{-y}"];
  const known: Readonly<Record<string, string>> = {
    tileset,
    grid: name,
    z: "{z}",
    x: "{x}",
    y: row,
    inv_y: inverted,
    ext: extension,
    dim: "",
  };
  let isKnown = true;
  const path = template.replace(/\{([^{}]*)\}/g, (_, key: string) => {
    const value = known[key];
    if (value === undefined) isKnown = false;
    return value ?? "";
  });
  return isKnown ? path : undefined;
}
