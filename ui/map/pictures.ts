import TileLayer from "ol/layer/Tile.js";
import type Projection from "ol/proj/Projection.js";
import ImageTile from "ol/source/ImageTile.js";
import TileGrid from "ol/tilegrid/TileGrid.js";
import { type GridSubset, isOffered, tileAddress } from "./grid.ts";
import type { ShownTiles } from "./map-surface.ts";

/** The factor by which pictures of the first level are shrunk at the most. Beyond it a view would need too many. */
const MOST_SHRUNK = 8;

/** The layer of a map that shows the pictures of the tiles. */
export class Pictures {
  readonly layer: TileLayer<ImageTile>;
  readonly #subset: GridSubset;
  readonly #projection: Projection;
  readonly #errorListeners = new Set<() => void>();
  /** Aborts the requests for tiles of the source, which a slow upstream would otherwise keep open. */
  #stop = new AbortController();

  constructor(subset: GridSubset, projection: Projection) {
    this.#subset = subset;
    this.#projection = projection;
    this.layer = new TileLayer<ImageTile>({
      maxResolution: (subset.levels[subset.zoomStart]?.resolution ?? 1) * MOST_SHRUNK * 1.01,
    });
  }

  /** Shows the pictures of tiles. Undefined removes them. */
  show(tiles: ShownTiles | undefined): void {
    this.#stop.abort();
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    const source = tiles === undefined ? null : tileSource(this.#subset, this.#projection, tiles, signal);
    source?.on("tileloaderror", () => {
      // OpenLayers also reports aborted requests as errors.
      if (signal.aborted) return;
      for (const listener of this.#errorListeners) listener();
    });
    this.layer.setSource(source);
  }

  onError(listener: () => void): () => void {
    this.#errorListeners.add(listener);
    return () => this.#errorListeners.delete(listener);
  }

  close(): void {
    this.#stop.abort();
  }
}

/** Returns a source of tiles by their XYZ addresses. Its requests are aborted by `stopped`. */
function tileSource(subset: GridSubset, projection: Projection, tiles: ShownTiles, stopped: AbortSignal): ImageTile {
  const levels = subset.levels.slice(0, subset.zoomStop + 1);
  const nothing = document.createElement("canvas");
  nothing.width = nothing.height = 1;
  return new ImageTile({
    projection,
    wrapX: false,
    transition: 0,
    // The rule of `nearestLevel`. OpenLayers would use much finer tiles between levels that are far apart.
    zDirection: (resolution, coarser, finer) => resolution ** 2 - coarser * finer,
    tileSize: [...subset.tileSize],
    tileGrid: new TileGrid({
      minZoom: subset.zoomStart,
      resolutions: levels.map(({ resolution }) => resolution),
      origins: levels.map(({ topLeft }) => [...topLeft]),
      sizes: levels.map(({ matrixSize }) => [...matrixSize]),
      tileSize: [...subset.tileSize],
    }),
    loader: async (z, x, y, { signal }) => {
      if (!isOffered(subset, { z, x, y })) return nothing;
      const response = await fetch(tileAddress(tiles.template, { z, x, y }, tiles.parameters), {
        signal: AbortSignal.any([signal, stopped]),
        credentials: "same-origin",
        headers: tiles.storedOnly ? { "Cache-Control": "only-if-cached" } : {},
      });
      if (tiles.storedOnly && response.status === 504) return nothing;
      if (!response.ok) throw new Error(`HTTP ${response.status}`);
      return createImageBitmap(await response.blob());
    },
  });
}
