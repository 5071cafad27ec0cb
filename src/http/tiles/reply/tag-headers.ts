import { LRUCache } from "lru-cache";
import { type TileRequest, tileSetOf } from "../../../cache/tile-reader.ts";
import { areaTag, layerTag, TAG_SEPARATORS, type TagHeader, tileTags } from "../../../layer/cache-tags.ts";
import { cellIndexOf } from "../../../layer/cells.ts";
import type { Layer } from "../../../layer/layer.ts";
import { type LayerName, tileSetKey } from "../../../layer/tile-set.ts";

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
    const parts = partsOf(request.layer);
    return this.#headerOf(`${tileSetKey(tileSet)}\n${cell.z}/${cell.column}/${cell.row}\n${parts.join("\n")}`, () => [
      ...tileTags(tileSet, cell),
      ...parts.flatMap((part) => [layerTag(part), areaTag(part, tileSet.gridSet, cell)]),
    ]);
  }

  /** Returns the header of a map of any extent: it has the tags of its layers. */
  ofMap(layers: readonly Pick<Layer, "name" | "source">[]): readonly string[] {
    const names = layers.flatMap((layer) => [layer.name, ...partsOf(layer)]);
    return this.#headerOf(names.join("\n"), () => [...new Set(names)].map(layerTag));
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

/** Returns the layers whose tiles a layer of type `group` shows. */
const partsOf = ({ source }: Pick<Layer, "source">): readonly LayerName[] =>
  source.type === "group" ? source.layers : [];
