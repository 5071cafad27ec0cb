import type { FeatureLike } from "ol/Feature.js";
import type FeatureFormat from "ol/format/Feature.js";
import GeoJSON from "ol/format/GeoJSON.js";
import MVT from "ol/format/MVT.js";
import VectorTileLayer from "ol/layer/VectorTile.js";
import type Projection from "ol/proj/Projection.js";
import VectorTile from "ol/source/VectorTile.js";
import type TileGrid from "ol/tilegrid/TileGrid.js";

/** The tiles of a map, and where they are. */
export interface TileSource {
  readonly grid: TileGrid;
  readonly projection: Projection;
  /** Undefined if the tile set does not have the tile. */
  readonly addressOf: (z: number, x: number, y: number) => string | undefined;
}

/** Returns a layer of vector tiles, with OpenLayers' style. */
export function vectors({ grid, projection, addressOf }: TileSource, mimeType: string): VectorTileLayer {
  const format: FeatureFormat<FeatureLike> = mimeType.includes("json") ? new GeoJSON() : new MVT();
  const source = new VectorTile<FeatureLike>({
    format,
    projection,
    wrapX: false,
    tileGrid: grid,
    tileUrlFunction: ([z = 0, x = 0, y = 0]) => addressOf(z, x, y),
  });
  return new VectorTileLayer({ source });
}
