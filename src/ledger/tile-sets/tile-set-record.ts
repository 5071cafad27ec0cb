import { asGridSetName, type Zoom } from "../../grid/grid-set.ts";
import { asFormatName, asLayerName, asParametersId, type LayerName, type TileSet } from "../../layer/tile-set.ts";
import { type Row, text } from "../../state/database.ts";
import type { StoredPyramid } from "../../store/inventory-store.ts";

/**
 * The number and bytes of the tiles of one zoom of one tile set. `allocated`: the bytes that the store's disk allocates
 * for the tiles.
 */
export interface Sum {
  tiles: bigint;
  bytes: bigint;
  allocated: bigint;
}

/** A change of a number of tiles and of their bytes; negative if tiles are removed. */
export type SumChange = Readonly<Record<keyof Sum, number>>;

export const emptySum = (): Sum => ({ tiles: 0n, bytes: 0n, allocated: 0n });

export function addTo(sum: Sum, { tiles, bytes, allocated }: Readonly<Sum>): void {
  sum.tiles += tiles;
  sum.bytes += bytes;
  sum.allocated += allocated;
}

/** The tile sets of a pyramid, or of a whole layer. */
export type TileSetScope = StoredPyramid | { readonly layer: LayerName; readonly gridSet?: undefined };

export interface TileSetRecord {
  readonly id: number;
  readonly tileSet: TileSet;
  /** Whether every stored tile has been counted, so that a block without a row is empty. */
  complete: boolean;
  readonly sums: Map<Zoom, Sum>;
  /**
   * The ids under which the blocks of separately truncated levels are stored. The blocks of all other levels have the
   * id of the record.
   */
  readonly levelIds: Map<Zoom, number>;
  /** Levels of `levelIds` whose truncated blocks may still have rows under the id of the record. */
  readonly unreclaimed: Set<Zoom>;
}

/** Returns the id under which the blocks of a level are stored. */
export const blocksId = ({ id, levelIds }: TileSetRecord, z: Zoom): number => levelIds.get(z) ?? id;

/** Returns all ids of a tile set: the id of the record, and the ids of separately truncated levels. */
export const idsOf = ({ id, levelIds }: TileSetRecord): readonly number[] => [id, ...levelIds.values()];

/** A level of a tile set. */
export interface TileSetLevel {
  readonly record: TileSetRecord;
  readonly z: Zoom;
}

/** Returns whether a row describes a whole tile set. False if it describes a separately truncated level. */
export const isOfTileSet = (row: Row): boolean => row["level"] === null;

export const tileSetOfRow = (row: Row): TileSet => ({
  ...pyramidOfRow(row),
  format: asFormatName(text(row, "format")),
});

export const pyramidOfRow = (row: Row): StoredPyramid => ({
  layer: asLayerName(text(row, "layer")),
  gridSet: asGridSetName(text(row, "grid_set")),
  parametersId: asParametersId(text(row, "parameters_id")),
});

export const pyramidOf = (t: StoredPyramid): StoredPyramid => ({
  layer: t.layer,
  gridSet: t.gridSet,
  parametersId: t.parametersId,
});
export const pyramidKey = (p: StoredPyramid): string => `${p.layer}\n${p.gridSet}\n${p.parametersId}`;
