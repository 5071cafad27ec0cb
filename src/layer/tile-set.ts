import type { GridSetName, TileIndex } from "../grid/grid-set.ts";
import type { Branded } from "../lib/brand.ts";

export type LayerName = Branded<string, "layer">;
export const asLayerName = (name: string): LayerName => name as LayerName;
/** 40 hexadecimal digits; "" for the default parameters. */
export type ParametersId = Branded<string, "parameters">;
export const asParametersId = (id: string): ParametersId => id as ParametersId;
/** A MIME type as configured, such as `image/png8`. */
export type FormatName = Branded<string, "format">;
export const asFormatName = (name: string): FormatName => name as FormatName;

/** The unit of storage, truncation and measurement: layer, grid set, format and parameters id. */
export interface TileSet {
  readonly layer: LayerName;
  readonly gridSet: GridSetName;
  readonly format: FormatName;
  readonly parametersId: ParametersId;
}

/** The address of one tile. A store has one entry per address. */
export interface TileAddress extends TileIndex {
  readonly tileSet: TileSet;
}

/** The side of a block in tiles. A block is 128 x 128 tiles of one tile set at one level: one record of the ledger. */
export const BLOCK_SIDE = 128;

/**
 * Returns a key of a tile set for maps. No part contains a line feed: formats and ids never do, and the configuration
 * checks the names.
 */
export const tileSetKey = (t: TileSet): string => `${t.layer}\n${t.gridSet}\n${t.format}\n${t.parametersId}`;
