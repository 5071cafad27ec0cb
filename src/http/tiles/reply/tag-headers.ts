import { LRUCache } from "lru-cache";
import { partTileSets } from "../../../cache/group-reader.ts";
import { type TileRequest, tileSetOf } from "../../../cache/tile-reader.ts";
import { layerTag, mapTag, TAG_SEPARATORS, type TagHeader, tileTags } from "../../../layer/cache-tags.ts";
import { type Catalogue, partsOf } from "../../../layer/catalogue.ts";
import { cellIndexOf, cellKey } from "../../../layer/cells.ts";
import type { Layer } from "../../../layer/layer.ts";

/** The most cells and layers whose tags are in memory. The tags of a cell are computed by three digests. */
const MOST_CELLS = 4096;

/**
 * Makes the headers with the tags of tiles, by which a CDN removes its copies (`server.cacheTags`). Makes no headers
 * while no header is configured.
 */
export class TagHeaders {
  readonly #header: () => TagHeader | undefined;
  readonly #known = new LRUCache<string, readonly string[]>({ max: MOST_CELLS });
  /** The catalogue of the remembered tags. Another catalogue may have other parts of groups. */
  #catalogue: Catalogue | undefined;

  constructor(header: () => TagHeader | undefined) {
    this.#header = header;
  }

  /**
   * Returns the header of a tile: its name and its value. The tile of a group also has the tags of the tiles of which
   * it is composed. Empty without a configured header.
   */
  ofTile(request: TileRequest, catalogue: Catalogue): readonly string[] {
    const tileSet = tileSetOf(request);
    const cell = cellIndexOf(request.index);
    return this.#headerOf(catalogue, cellKey(tileSet, cell), () =>
      [tileSet, ...partTileSets(catalogue, request)].flatMap((one) => tileTags(one, cell)),
    );
  }

  /** Returns the header of a map of any extent: it has the tags of its layers and of the maps of its layers. */
  ofMap(layers: readonly Layer[], catalogue: Catalogue): readonly string[] {
    const shown = layers.flatMap((layer) => [layer, ...partsOf(catalogue, layer)]);
    const names = [...new Set(shown.map(({ name }) => name))];
    return this.#headerOf(catalogue, names.join("\n"), () => [...names.map(layerTag), ...names.map(mapTag)]);
  }

  /** Returns the header of a picture that belongs to a layer and to none of its tiles. */
  ofLayer({ name }: Pick<Layer, "name">, catalogue: Catalogue): readonly string[] {
    return this.#headerOf(catalogue, `\n${name}`, () => [layerTag(name)]);
  }

  #headerOf(catalogue: Catalogue, key: string, tagsOf: () => readonly string[]): readonly string[] {
    const header = this.#header();
    if (header === undefined) return [];
    if (this.#catalogue !== catalogue) this.#known.clear();
    this.#catalogue = catalogue;
    const known = this.#known.get(key);
    const tags = known ?? tagsOf();
    if (known === undefined) this.#known.set(key, tags);
    return [header, tags.join(TAG_SEPARATORS[header])];
  }
}
