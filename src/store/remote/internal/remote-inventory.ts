import {
  asTileX,
  asZoom,
  type GridSetName,
  type TileRect,
  type TileX,
  type TileY,
  type Zoom,
} from "../../../grid/grid-set.ts";
import { formatInPath } from "../../../layer/format.ts";
import {
  BLOCK_SIDE,
  type FormatName,
  type LayerName,
  type ParametersId,
  type TileSet,
} from "../../../layer/tile-set.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { isBefore, regionKey, squareOf } from "../../internal/regions.ts";
import type { FoundTile, Region, StoredPyramid } from "../../inventory-store.ts";
import type { Bucket } from "../bucket.ts";
import { columnTiles } from "./columns.ts";
import { hasNamedLevels, isUnreadable, type NameOf } from "./generations.ts";
import {
  type KeyLevel,
  type KeySegment,
  keyLevel,
  levelPrefix,
  parametersKey,
  parseLevel,
  parseNumber,
} from "./keys.ts";
import { firstKey, levelsIn, segments, segmentsIn } from "./levels.ts";
import type { Names } from "./names.ts";

/** For this time `pyramids` reuses the pyramids that `hasTiles` has listed. */
const LISTED_MS = 200;
const LAST_ROW = 2 ** 40;

/** Lists the tiles in the bucket under the current names. */
export class RemoteInventory {
  readonly #clock: Clock;
  readonly #bucket: Bucket;
  readonly #names: Names;
  /** The pyramids of a layer that a truncation has listed. The record of the truncation needs them in the same turn. */
  #listed:
    | { readonly layer: LayerName; readonly pyramids: readonly StoredPyramid[]; readonly untilMs: number }
    | undefined;

  constructor(clock: Clock, bucket: Bucket, names: Names) {
    this.#clock = clock;
    this.#bucket = bucket;
    this.#names = names;
  }

  /** Returns the levels of a layer that readers can see. */
  async readable(
    layer: LayerName,
    only: { readonly gridSet?: GridSetName; readonly parametersId?: ParametersId } = {},
  ): Promise<KeyLevel[]> {
    const { nameOf } = this.#names;
    return await levelsIn(this.#bucket, layer, only, (level) => isReadable(nameOf, level));
  }

  /** Returns whether a layer has a tile that readers can see. Usually needs one list request for one key. */
  async hasTiles(layer: LayerName): Promise<boolean> {
    const key = await firstKey(this.#bucket, `${layer}/`);
    if (key === undefined) return false;
    const level = parseLevel(layer, key);
    if (level !== undefined && isReadable(this.#names.nameOf, level)) return true;
    const pyramids = await this.#pyramidsOf(layer);
    this.#listed = { layer, pyramids, untilMs: this.#clock.monotonicNow() + LISTED_MS };
    return pyramids.length > 0;
  }

  async pyramids(layer: LayerName): Promise<readonly StoredPyramid[]> {
    const listed = this.#listed;
    this.#listed = undefined;
    if (listed?.layer === layer && this.#clock.monotonicNow() < listed.untilMs) return listed.pyramids;
    return await this.#pyramidsOf(layer);
  }

  async #pyramidsOf(layer: LayerName): Promise<StoredPyramid[]> {
    const found = new Map<string, StoredPyramid>();
    const { nameOf, current } = this.#names;
    const isSplit = ({ gridSet, parametersId }: KeySegment): boolean =>
      hasNamedLevels(current.names, [layer, gridSet, parametersId]);
    const whole = await segmentsIn(
      this.#bucket,
      layer,
      (segment) => isSplit(segment) || isReadable(nameOf, { ...segment, z: asZoom(0) }),
    );
    const split = whole.some(isSplit) ? await this.readable(layer) : [];
    for (const { gridSet, parametersId } of [...whole.filter((segment) => !isSplit(segment)), ...split])
      found.set(`${gridSet}\n${parametersId}`, { layer, gridSet, parametersId });
    return [...found.values()];
  }

  async levelsOf(layer: LayerName, pyramids: readonly StoredPyramid[]): Promise<Zoom[][]> {
    const [only, ...others] = pyramids;
    const few = only !== undefined && others.length === 0 ? only : {};
    const levels = await this.readable(layer, few);
    return pyramids.map(({ gridSet, parametersId }) => {
      const own = levels.filter((level) => level.gridSet === gridSet && level.parametersId === parametersId);
      return [...new Set(own.map(({ z }) => z))].sort((a, b) => a - b);
    });
  }

  async recount(tileSet: TileSet, rect: TileRect): Promise<FoundTile[]> {
    const level = this.#level(tileSet, rect.z);
    const found: FoundTile[] = [];
    const rows = { first: rect.minY, last: rect.maxY };
    const columns = Array.from({ length: rect.maxX - rect.minX + 1 }, (_, i) => rect.minX + i);
    // The bucket's connections limit the number of concurrent list requests.
    await Promise.all(
      columns.map(async (column) => {
        for await (const tiles of columnTiles(this.#bucket, level, asTileX(column), rows))
          for (const { x, y, bytes, modifiedMs } of tiles) found.push({ x, y, bytes, modifiedMs });
      }),
    );
    return found;
  }

  #level(tileSet: TileSet, z: Zoom): KeyLevel {
    return keyLevel({ tileSet, z }, this.#names.nameOf(tileSet.layer, tileSet.gridSet, tileSet.parametersId, z));
  }

  /**
   * Yields the tiles of a level in regions of one row of blocks, by strips of 128 columns. Lists a strip as a whole,
   * because keys are ordered by text, not by row.
   */
  async *regions(pyramid: StoredPyramid, z: Zoom, after: string | undefined): AsyncGenerator<Region> {
    const levels = (await this.readable(pyramid.layer, pyramid)).filter((level) => level.z === z);
    const strips = new Map<number, Map<KeyLevel, number[]>>();
    for (const level of levels) {
      for (const segment of await segments(this.#bucket, levelPrefix(level))) {
        const x = parseNumber(segment);
        if (x === undefined) continue;
        const strip = Math.floor(x / BLOCK_SIDE);
        const columns = strips.get(strip) ?? new Map<KeyLevel, number[]>();
        strips.set(strip, columns.set(level, [...(columns.get(level) ?? []), x]));
      }
    }
    for (const [strip, columns] of [...strips].sort(([a], [b]) => a - b)) {
      if (isBefore(strip, after)) continue;
      const rows = await this.#rowsOf(columns);
      for (const row of [...rows.keys()].sort((a, b) => a - b)) {
        const key = regionKey(strip, row);
        const tiles = rows.get(row);
        if (tiles === undefined || (after !== undefined && key <= after)) continue;
        yield { key, rect: squareOf(z, strip, row), tiles };
      }
    }
  }

  /** Returns the tiles of a strip, by row of blocks and by format. */
  async #rowsOf(
    columns: ReadonlyMap<KeyLevel, readonly number[]>,
  ): Promise<Map<number, Map<FormatName, { x: TileX; y: TileY }[]>>> {
    const rows = new Map<number, Map<FormatName, { x: TileX; y: TileY }[]>>();
    for (const [level, xs] of columns) {
      const format = formatInPath(level.extension);
      if (format === undefined) continue;
      for (const x of xs) {
        for await (const page of columnTiles(this.#bucket, level, asTileX(x), { first: 0, last: LAST_ROW })) {
          for (const { y } of page) {
            const row = Math.floor(y / BLOCK_SIDE);
            const formats = rows.get(row) ?? new Map<FormatName, { x: TileX; y: TileY }[]>();
            const tiles = formats.get(format) ?? [];
            tiles.push({ x: asTileX(x), y });
            rows.set(row, formats.set(format, tiles));
          }
        }
      }
    }
    return rows;
  }

  async removeEmptyPyramids(
    layer: LayerName,
    pyramids: readonly Pick<StoredPyramid, "gridSet" | "parametersId">[],
  ): Promise<("gone" | "tiles")[]> {
    const all = await levelsIn(this.#bucket, layer);
    const generations = this.#names.current;
    // Tiles that are set aside need the values of their parameters too.
    const needed = all.filter((level) => !isUnreadable(generations, level, level.name));
    const { nameOf } = this.#names;
    for (const id of new Set(pyramids.map(({ parametersId }) => parametersId)))
      if (id !== "" && !needed.some(({ parametersId }) => parametersId === id))
        await this.#bucket.delete(parametersKey(layer, id));
    return pyramids.map(({ gridSet, parametersId }) =>
      needed.some(
        (level) => level.gridSet === gridSet && level.parametersId === parametersId && isReadable(nameOf, level),
      )
        ? "tiles"
        : "gone",
    );
  }
}

const isReadable = (nameOf: NameOf, { layer, gridSet, parametersId, name, z }: KeyLevel): boolean =>
  nameOf(layer, gridSet, parametersId, z) === name;
