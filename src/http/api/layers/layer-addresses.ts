import type { TileFormat } from "../../../layer/format.ts";
import type { GridSubset } from "../../../layer/grid-subset.ts";
import type { Layer } from "../../../layer/layer.ts";
import { kmlSubset } from "../../tiles/kml/kml-address.ts";
import { firstTiles } from "../../tiles/kml/kml-documents.ts";
import { legendAddress } from "../../tiles/wms/legend-address.ts";
import type { Documents } from "../documents/documents.ts";

/**
 * Returns the addresses of a layer for clients: the addresses of its documents, and address templates of its tiles for
 * each grid set and format. Clients replace the parts in braces. Parameters are appended as `KEY=VALUE`.
 * @param base scheme, host, port and mount as the client addressed them
 */
export function layerAddresses(layer: Layer, base: string): Documents["Layer"]["addresses"] {
  return {
    wmtsCapabilities: `${base}/service/wmts/rest/WMTSCapabilities.xml`,
    wmsCapabilities: `${base}/service/wms?SERVICE=WMS&VERSION=1.1.1&REQUEST=GetCapabilities`,
    tms: `${base}/service/tms/1.0.0`,
    ogc: `${base}/ogc/collections/${encodeURIComponent(layer.name)}`,
    legends: layer.legends.map((legend) => legendAddress(layer, legend, base)),
    tiles: layer.gridSubsets.flatMap((subset) =>
      layer.formats.map((format) => tileAddresses(layer, subset, format, base)),
    ),
  };
}

function tileAddresses(named: Layer, subset: GridSubset, format: TileFormat, base: string) {
  const { name } = named;
  const { gridSet } = subset;
  const { mimeType, extension } = format;
  const layer = encodeURIComponent(name);
  const grid = encodeURIComponent(gridSet.id);
  const type = encodeURIComponent(mimeType);
  const ogcKind = format.kind === "image" ? "map/tiles" : "tiles";
  return {
    gridSet: gridSet.id,
    format: mimeType,
    xyz: `${base}/xyz/${layer}/${grid}/{z}/{x}/{y}.${extension}`,
    tileJson: `${base}/tilejson/${layer}/${grid}?format=${type}`,
    wmts: `${base}/service/wmts/rest/${layer}/${grid}/{TileMatrix}/{TileRow}/{TileCol}?format=${type}`,
    tms: `${base}/service/tms/1.0.0/${[layer, grid, extension].join("@")}/{z}/{x}/{y}.${extension}`,
    ogc: `${base}/ogc/collections/${layer}/${ogcKind}/${grid}/{tileMatrix}/{tileRow}/{tileCol}?f=${extension}`,
    wms:
      format.kind === "image"
        ? `${base}/service/wms?SERVICE=WMS&VERSION=1.1.1&REQUEST=GetMap&LAYERS=${layer}&STYLES=&SRS=EPSG:${gridSet.srs}&FORMAT=${type}&WIDTH=${gridSet.tileWidth}&HEIGHT=${gridSet.tileHeight}&BBOX={bbox}`
        : null,
    kml:
      format.kind === "image" && subset === kmlSubset(named) && firstTiles(subset) !== undefined
        ? `${base}/service/kml/${layer}.${extension}.kml`
        : null,
  };
}
