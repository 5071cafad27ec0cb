import type { Doc } from "../core/server/api.ts";
import { BASE } from "../core/server/base.ts";

/** A grid set of a layer, with its levels and the parts that the layer offers. */
export type GridSubset = Doc<"Layer">["gridSubsets"][number];
/** minx, miny, maxx, maxy in units of the grid set. */
export type Box = readonly [number, number, number, number];

/** A tile by its XYZ address: y counts from the top. */
export interface TileAddress {
  readonly z: number;
  readonly x: number;
  readonly y: number;
}

/** Returns the name of a tile, z/x/y with y from the top. */
export const tileName = ({ z, x, y }: TileAddress): string => `${z}/${x}/${y}`;

/** Parses the name of a tile. Undefined if the text is not such a name. */
export function parseTile(text: string | null): TileAddress | undefined {
  const [, z, x, y] = /^\s*(\d{1,2})\/(\d{1,10})\/(\d{1,10})\s*$/.exec(text ?? "") ?? [];
  return z === undefined ? undefined : { z: Number(z), x: Number(x), y: Number(y) };
}

/** Returns a grid set of a layer by its id. Without an id, returns the layer's default. */
export function findSubset(layer: Doc<"Layer">, gridSet: string | undefined): GridSubset | undefined {
  const id = gridSet ?? layer.defaultGridSet;
  return layer.gridSubsets.find((subset) => subset.gridSet === id);
}

/** Returns the levels that the layer offers. */
export const offeredLevels = ({ levels, zoomStart, zoomStop }: GridSubset): GridSubset["levels"] =>
  levels.slice(zoomStart, zoomStop + 1);

/** Returns the number of a level, with its name if that differs from the number. */
export function levelName({ levels, gridSet }: GridSubset, z: number): string {
  const name = levels[z]?.name ?? String(z);
  return name === String(z) || name === `${gridSet}:${z}` ? String(z) : `${z} · ${name}`;
}

/** Returns the offered level whose resolution is nearest to a resolution of the map. */
export function nearestLevel(subset: GridSubset, resolution: number): number {
  const distance = (one: number): number => Math.abs(Math.log(one / resolution));
  const levels = offeredLevels(subset);
  const [first] = levels;
  if (first === undefined) return subset.zoomStart;
  return levels.reduce((best, level) => (distance(level.resolution) < distance(best.resolution) ? level : best), first)
    .z;
}

/** Returns the offered tile at a position. Undefined if the layer has no tile there. */
export function tileAt(subset: GridSubset, z: number, [x, y]: readonly [number, number]): TileAddress | undefined {
  const level = subset.levels[z];
  if (level === undefined) return undefined;
  const [width, height] = subset.tileSize;
  const { topLeft, resolution } = level;
  const tile = {
    z,
    x: Math.floor((x - topLeft[0]) / (width * resolution)),
    y: Math.floor((topLeft[1] - y) / (height * resolution)),
  };
  return isOffered(subset, tile) ? tile : undefined;
}

/** Returns whether the layer offers a tile. */
export function isOffered({ levels, zoomStart, zoomStop }: GridSubset, { z, x, y }: TileAddress): boolean {
  const level = levels[z];
  const coverage = level?.coverage;
  if (level === undefined || !coverage || z < zoomStart || z > zoomStop) return false;
  const fromBottom = level.matrixSize[1] - 1 - y;
  const [minX, minY, maxX, maxY] = coverage;
  return x >= minX && x <= maxX && fromBottom >= minY && fromBottom <= maxY;
}

/** Returns the box of a tile. */
export function tileBox({ levels, tileSize }: GridSubset, { z, x, y }: TileAddress): Box {
  const { topLeft, resolution } = levels[z] ?? { topLeft: [0, 0] as const, resolution: 1 };
  const [width, height] = [tileSize[0] * resolution, tileSize[1] * resolution];
  const [left, top] = [topLeft[0] + x * width, topLeft[1] - y * height];
  return [left, top - height, left + width, top];
}

/** Returns the template of a layer's tiles on this server, with {z}, {x} and {y}. */
export function tileTemplate(layer: Doc<"Layer">, gridSet: string, format: string): string | undefined {
  return pathOfTiles(layer, gridSet, format, "xyz", "/xyz/");
}

/**
 * Returns the TMS address template of a layer's tiles, whose rows count from below. Undefined if the layer lacks such
 * tiles.
 */
export const tmsTemplate = (layer: Doc<"Layer">, gridSet: string, format: string): string | undefined =>
  pathOfTiles(layer, gridSet, format, "tms", "/service/tms/");

/**
 * Returns the template's path from `start` on: behind a proxy the server may see another scheme or host than the page.
 */
function pathOfTiles(
  { addresses }: Doc<"Layer">,
  gridSet: string,
  format: string,
  protocol: "xyz" | "tms",
  start: string,
): string | undefined {
  const found = addresses.tiles.find((one) => one.gridSet === gridSet && one.format === format)?.[protocol];
  const at = found?.lastIndexOf(start) ?? -1;
  return found === undefined || at < 0 ? undefined : BASE + found.slice(at);
}

/** Returns the address of a tile with its parameters. */
export function tileAddress(
  template: string,
  { z, x, y }: TileAddress,
  parameters: Readonly<Record<string, string>>,
  more = "",
): string {
  const query = new URLSearchParams(parameters).toString();
  const address = template.replace("{z}", String(z)).replace("{x}", String(x)).replace("{y}", String(y));
  const parts = [more, query].filter((part) => part !== "");
  return parts.length === 0 ? address : `${address}?${parts.join("&")}`;
}

/**
 * Returns the resolutions at which the map stops: of the offered levels, further ones between levels that are far
 * apart, and coarser ones until the layer's bounds fit into `size` CSS pixels.
 */
export function restingResolutions(subset: GridSubset, size: readonly [number, number]): readonly number[] {
  const resting = offeredLevels(subset).flatMap(({ resolution }, n, all) => {
    const next = all[n + 1]?.resolution;
    const steps = next === undefined ? 1 : Math.max(1, Math.floor(Math.log2(resolution / next) + 0.01));
    return Array.from({ length: steps }, (_, step) => resolution / 2 ** step);
  });
  const [minX, minY, maxX, maxY] = subset.bounds;
  const needed = Math.max((maxX - minX) / size[0], (maxY - minY) / size[1]);
  const coarser: number[] = [];
  for (let one = (resting[0] ?? needed) * 2; one < needed; one *= 2) coarser.unshift(one);
  if (needed > (coarser[0] ?? resting[0] ?? 0) * 1.05) coarser.unshift(needed);
  return [...coarser, ...resting];
}
