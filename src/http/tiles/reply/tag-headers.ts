import { LRUCache } from "lru-cache";
import { type TileRequest, tileSetOf } from "../../../cache/tile-reader.ts";
import { cellIndexOf, layerTag, TAG_SEPARATORS, type TagHeader, tileTags } from "../../../layer/cache-tags.ts";
import type { Layer } from "../../../layer/layer.ts";
import { tileSetKey } from "../../../layer/tile-set.ts";

/** The most cells and layers whose tags are in memory. The tags of a cell are computed by three digests. */
const MOST_CELLS = 4096;

/**
 * Makes the headers with the tags of tiles, by which a CDN removes its copies (`server.cacheTags`). Makes no headers
 * while no header is configured.
 */
export class TagHeaders {
  readonly #header: () => TagHeader | undefined;
  readonly #known = new LRUCache<string, readonly string[]>({ max: MOST_CELLS });

  constructor(header: () => TagHeader | undefined) {
    this.#header = header;
  }

  /** Returns the header of a tile: its name and its value. Empty without a configured header. */
  ofTile(request: TileRequest): readonly string[] {
    const tileSet = tileSetOf(request);
    const cell = cellIndexOf(request.index);
    return this.#headerOf(`${tileSetKey(tileSet)}\n${cell.z}/${cell.column}/${cell.row}`, () =>
      tileTags(tileSet, cell),
    );
  }

  /** Returns the header of a map of any extent: it has the tag of its layer. */
  ofMap({ name }: Pick<Layer, "name">): readonly string[] {
    return this.#headerOf(name, () => [layerTag(name)]);
  }

  #headerOf(key: string, tagsOf: () => readonly string[]): readonly string[] {
    const header = this.#header();
    if (header === undefined) return [];
    const known = this.#known.get(key);
    const tags = known ?? tagsOf();
    if (known === undefined) this.#known.set(key, tags);
    return [header, tags.join(TAG_SEPARATORS[header])];
  }
}
