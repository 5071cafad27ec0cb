import { titleOf } from "../../core/model/layer.ts";
import type { Doc } from "../../core/server/api.ts";
import { shellWord } from "../../core/server/command.ts";

type Layer = Doc<"Layer">;
export type GridSubset = Layer["gridSubsets"][number];
export type TileAddresses = Layer["addresses"]["tiles"][number];

/** The tiles in a snippet: one grid set and one format of a layer. */
export interface SnippetSubject {
  readonly layer: Layer;
  readonly subset: GridSubset;
  readonly addresses: TileAddresses;
}

interface Snippet {
  /** The name of the program. */
  readonly name: string;
  /** Returns the snippet. Undefined if the program cannot show tiles of this grid set or format. */
  readonly text: (subject: SnippetSubject) => string | undefined;
}

export const snippets: readonly Snippet[] = [
  { name: "QGIS", text: qgis },
  { name: "OpenLayers", text: openLayers },
  { name: "Leaflet", text: leaflet },
  { name: "MapLibre", text: mapLibre },
  { name: "GDAL", text: gdal },
];

const isPicture = ({ addresses: { wms } }: SnippetSubject): boolean => wms !== null;
/**
 * Returns a value as JavaScript or Python, for which JSON is valid in both. Escapes `<`, which could end the script
 * element.
 */
const literal = (value: unknown): string => JSON.stringify(value).replaceAll("<", "\\u003c");
const htmlText = (text: string): string => text.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`);

const HALF_WORLD = 20037508.34;

/** Returns whether a grid set has the tiles of web maps. */
export const isWebMercator = ({ levels, tileSize: [width, height] }: GridSubset): boolean =>
  width === height &&
  levels.every(({ resolution, topLeft: [x, y], z }) => {
    const expected = (2 * HALF_WORLD) / width / 2 ** z;
    return Math.abs(resolution / expected - 1) < 1e-6 && Math.abs(x + HALF_WORLD) < 1 && Math.abs(y - HALF_WORLD) < 1;
  });

/** Returns Python code for the console of QGIS. It adds the layer by WMTS, in the layer's own grid set. */
function qgis(subject: SnippetSubject): string | undefined {
  if (!isPicture(subject)) return undefined;
  const { layer, subset, addresses } = subject;
  const source = new URLSearchParams({
    crs: `EPSG:${subset.srs}`,
    dpiMode: "7",
    format: addresses.format,
    layers: layer.name,
    styles: "",
    tileMatrixSet: subset.gridSet,
    url: layer.addresses.wmtsCapabilities,
  });
  // QGIS interprets a plus sign itself.
  const query = String(source).replaceAll("+", "%20");
  return `iface.addRasterLayer(${literal(query)}, ${literal(titleOf(layer))}, "wms")`;
}

function openLayers(subject: SnippetSubject): string | undefined {
  if (!isPicture(subject)) return undefined;
  const { layer, subset, addresses } = subject;
  const { levels, tileSize, extent, bounds } = subset;
  const script = `const extent = ${literal(extent)};
const projection = new ol.proj.Projection({
  code: ${literal(`EPSG:${subset.srs}`)},
  extent,
  metersPerUnit: ${subset.metersPerUnit},
});
const tileGrid = new ol.tilegrid.TileGrid({
  extent: ${literal(bounds)},
  minZoom: ${subset.zoomStart},
  tileSize: ${literal(tileSize)},
  resolutions: ${literal(levelsShown(subset).map(({ resolution }) => resolution))},
  origins: ${literal(levelsShown(subset).map(({ topLeft }) => topLeft))},
});
const source = new ol.source.XYZ({ url: ${literal(addresses.xyz)}, projection, tileGrid });
const view = new ol.View({ projection, extent, showFullExtent: true, resolutions: tileGrid.getResolutions() });
const map = new ol.Map({ target: "map", view, layers: [new ol.layer.Tile({ source })] });
view.fit(${literal(bounds)});`;
  return levels.length === 0 ? undefined : page(layer, OPEN_LAYERS, script);
}

/** Returns the levels up to the layer's last one. Clients count levels from 0. */
const levelsShown = ({ levels, zoomStop }: GridSubset) => levels.slice(0, zoomStop + 1);

function leaflet(subject: SnippetSubject): string | undefined {
  if (!isPicture(subject)) return undefined;
  const { layer, subset, addresses } = subject;
  const [minX, minY, maxX, maxY] = subset.bounds;
  const levels = `minZoom: ${subset.zoomStart}, maxZoom: ${subset.zoomStop}`;
  if (isWebMercator(subset) && subset.tileSize[0] === 256) {
    const script = `const map = L.map("map", { ${levels} });
L.tileLayer(${literal(addresses.xyz)}, { ${levels} }).addTo(map);
const corner = (x, y) => L.CRS.EPSG3857.unproject(L.point(x, y));
map.fitBounds([corner(${minX}, ${minY}), corner(${maxX}, ${maxY})]);`;
    return page(layer, LEAFLET, script);
  }
  // Leaflet has one corner for all levels: the upper left one, or the lower left one with rows that count upwards.
  const shown = levelsShown(subset);
  const [first] = shown;
  if (first === undefined) return undefined;
  const isSame = (a: readonly number[], b: readonly number[]): boolean => a[0] === b[0] && a[1] === b[1];
  const isTop = shown.every(({ topLeft }) => isSame(topLeft, first.topLeft));
  if (!isTop && !shown.every(({ origin }) => isSame(origin, first.origin))) return undefined;
  const [x, y] = isTop ? first.topLeft : first.origin;
  const template = isTop ? addresses.xyz : addresses.tms;
  const script = `// Positions are coordinates of EPSG:${subset.srs}: the first is y, the second is x.
const resolutions = ${literal(shown.map(({ resolution }) => resolution))};
const crs = L.extend({}, L.CRS.Simple, {
  code: ${literal(`EPSG:${subset.srs}`)},
  transformation: L.transformation(1, ${-x}, -1, ${y}),
  scale: (zoom) => 1 / (resolutions[Math.floor(zoom)] * 2 ** (Math.floor(zoom) - zoom)),
  zoom: (scale) => resolutions.findLastIndex((one) => one >= 0.999999 / scale),
});
const Tiles = L.TileLayer.extend({
  getTileUrl: ({ x, y, z }) => L.Util.template(${literal(template)}, { x, z, y: ${isTop ? "y" : "-1 - y"} }),
});
const map = L.map("map", { crs, ${levels} });
new Tiles("", { ${levels}, tileSize: L.point(${subset.tileSize[0]}, ${subset.tileSize[1]}) }).addTo(map);
map.fitBounds([[${minY}, ${minX}], [${maxY}, ${maxX}]]);`;
  return page(layer, LEAFLET, script);
}

/** Returns code for MapLibre, which supports only the grid set of web maps. */
function mapLibre(subject: SnippetSubject): string | undefined {
  const { layer, subset, addresses } = subject;
  if (!isWebMercator(subset) || !isPicture(subject)) return undefined;
  const degrees = (x: number): number => (x / HALF_WORLD) * 180;
  const latitude = (y: number): number => (Math.atan(Math.sinh((y / HALF_WORLD) * Math.PI)) * 180) / Math.PI;
  const [minX, minY, maxX, maxY] = subset.bounds;
  const script = `import { Map } from "https://cdn.jsdelivr.net/npm/maplibre-gl@6.17.0/dist/maplibre-gl.mjs";
const source = {
  type: "raster",
  tiles: [${literal(addresses.xyz)}],
  tileSize: ${subset.tileSize[0]},
  minzoom: ${subset.zoomStart},
  maxzoom: ${subset.zoomStop},
};
const map = new Map({
  container: "map",
  style: { version: 8, sources: { tiles: source }, layers: [{ id: "tiles", type: "raster", source: "tiles" }] },
  bounds: [${[degrees(minX), latitude(minY), degrees(maxX), latitude(maxY)].map((one) => one.toFixed(6)).join(", ")}],
});`;
  return page(layer, MAPLIBRE, script);
}

function gdal({ layer, subset, addresses }: SnippetSubject): string | undefined {
  if (addresses.wms === null) return undefined;
  const dataset = [
    `WMTS:${layer.addresses.wmtsCapabilities}`,
    `layer=${layer.name}`,
    `tilematrixset=${subset.gridSet}`,
  ].join(",");
  return `gdal_translate -outsize 1024 0 -of PNG ${shellWord(dataset)} map.png`;
}

const OPEN_LAYERS = `<link rel="stylesheet" href="https://cdn.jsdelivr.net/npm/ol@10.11.0/ol.css">
<script src="https://cdn.jsdelivr.net/npm/ol@10.11.0/dist/ol.js"></script>`;
const LEAFLET = `<link rel="stylesheet" href="https://cdn.jsdelivr.net/npm/leaflet@1.9.4/dist/leaflet.css">
<script src="https://cdn.jsdelivr.net/npm/leaflet@1.9.4/dist/leaflet.js"></script>`;
const MAPLIBRE = `<link rel="stylesheet" href="https://cdn.jsdelivr.net/npm/maplibre-gl@6.17.0/dist/maplibre-gl.css">`;

/** Returns a complete page. Saved as a file, it shows the map. */
const page = (layer: Layer, head: string, script: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${htmlText(titleOf(layer))}</title>
${head}
<style>html, body, #map { height: 100%; margin: 0 }</style>
<div id="map"></div>
<script type="module">
${script}
</script>
</html>
`;
