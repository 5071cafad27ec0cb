import { hash } from "node:crypto";
import type { GridSetName } from "../grid/grid-set.ts";
import { type CellIndex, cellKey, cellPath } from "./cells.ts";
import type { LayerName, TileSet } from "./tile-set.ts";

/** The headers that can carry the tags of a tile, and the separator between two tags in each. */
export const TAG_SEPARATORS = { "Cache-Tag": ",", "Surrogate-Key": " ", xkey: " " } as const;
export type TagHeader = keyof typeof TAG_SEPARATORS;
export const TAG_HEADERS = ["Cache-Tag", "Surrogate-Key", "xkey"] as const satisfies readonly TagHeader[];

/**
 * Hexadecimal digits, because Cloudflare does not distinguish upper and lower case in tags. 80 bits: two of a million
 * million cells have the same tag with a probability of about one half, and then a purge removes one cell too many.
 */
const DIGITS = 20;

const digest = (text: string): string => hash("sha256", text, "hex").slice(0, DIGITS);

/** Returns the tag of all tiles of a layer. It depends on the name only, so it is the same on all nodes. */
export const layerTag = (layer: LayerName): string => `l-${digest(layer)}`;

/** Returns the tag of all maps of any extent that show a layer. */
export const mapTag = (layer: LayerName): string => `m-${digest(layer)}`;

/** Returns the tag of a cell of a layer in all formats and parameters. */
export const areaTag = (layer: LayerName, gridSet: GridSetName, cell: CellIndex): string =>
  `a-${digest(`${layer}\n${gridSet}\n${cellPath(cell)}`)}`;

/** Returns the tag of a cell of one tile set. */
export const cellTag = (tileSet: TileSet, cell: CellIndex): string => `c-${digest(cellKey(tileSet, cell))}`;

/** Returns the tags of a tile. All tiles of one cell of a tile set have the same tags. */
export const tileTags = (tileSet: TileSet, cell: CellIndex): readonly string[] => [
  layerTag(tileSet.layer),
  areaTag(tileSet.layer, tileSet.gridSet, cell),
  cellTag(tileSet, cell),
];
