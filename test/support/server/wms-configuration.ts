/** Returns a configuration with one or more layers of a test upstream. */
export function wmsConfiguration(
  url: string,
  layers: readonly {
    name: string;
    /** The address of its map server, if it differs from the other layers. */
    url?: string;
    extra?: string;
    gridSubsets?: string;
    connections?: number;
    timeoutSeconds?: number;
  }[] = [{ name: "ws:roads" }],
  more = "",
): string {
  return `${more}
layers:
${layers
  .map(
    (l) => `  - name: ${JSON.stringify(l.name)}
    source: { type: wms, url: ${JSON.stringify(l.url ?? url)}, layers: [roads], connections: ${l.connections ?? 8}, timeoutSeconds: ${l.timeoutSeconds ?? 60} }
    gridSubsets: ${l.gridSubsets ?? "[{ gridSet: EPSG:900913 }, { gridSet: EPSG:4326 }]"}
    formats: [image/png, image/jpeg]
    ${l.extra ?? ""}`,
  )
  .join("\n")}
`;
}

/** Tiles of 64 pixels instead of 256: the same number of tiles per level with a sixteenth of the pixels. */
const SMALL_GRID_SETS = `
gridSets:
  - id: EPSG:900913
    srs: EPSG:900913
    extent: [-20037508.34, -20037508.34, 20037508.34, 20037508.34]
    tileSize: [64, 64]
    levels: 31
  - id: EPSG:4326
    srs: EPSG:4326
    extent: [-180, -90, 180, 90]
    tileSize: [64, 64]
    levels: 22
    yCoordinateFirst: true
`;

/** Returns a `wmsConfiguration` with small tiles, for tests that need many tiles and not their pixels. */
export const smallTiles = (...[url, layers, more = ""]: Parameters<typeof wmsConfiguration>): string =>
  wmsConfiguration(url, layers, SMALL_GRID_SETS + more);
