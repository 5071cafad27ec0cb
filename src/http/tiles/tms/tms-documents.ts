import { asTileIndex, canonicalSrs, type GridSet, plainNumber, tileExtent } from "../../../grid/grid-set.ts";
import { advertisedLayers, type Catalogue } from "../../../layer/catalogue.ts";
import type { TileFormat } from "../../../layer/format.ts";
import type { GridSubset } from "../../../layer/grid-subset.ts";
import { type Layer, publicName } from "../../../layer/layer.ts";
import { escapeXml } from "../../../lib/text/escape.ts";

const HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** Returns the root document of TMS 1.0.0. */
export const tmsRootDocument = (baseUrl: string): string => `${HEAD}<Services>
  <TileMapService title="Tile Map Service" version="1.0.0" href="${escapeXml(baseUrl)}/service/tms/1.0.0"/>
</Services>
`;

function profileOf(grid: GridSet): string {
  switch (canonicalSrs(grid.srs)) {
    case 4326:
      return "global-geodetic";
    case 3857:
      return "global-mercator";
    default:
      return "local";
  }
}

/** Returns the address of a tile map. `@` inside a name is escaped, `@` between the parts is not, as in GWC. */
function tileMapUrl(layer: Layer, grid: GridSet, format: TileFormat, baseUrl: string): string {
  const parts = [publicName(layer), grid.id, format.extension].map(encodeURIComponent);
  return escapeXml(`${baseUrl}/service/tms/1.0.0/${parts.join("@")}`);
}

/**
 * Writes the document of the TMS 1.0.0 service in parts, one for each layer: its tile maps in all grid sets and
 * formats.
 */
export function* tileMapServiceDocument(catalogue: Catalogue, baseUrl: string): Generator<string> {
  const { title, description, keywords = [] } = catalogue.service.information;
  // TMS 1.0.0 has all keywords in one text.
  const words = keywords.length === 0 ? "" : `  <KeywordList>${escapeXml(keywords.join(" "))}</KeywordList>\n`;
  yield `${HEAD}<TileMapService version="1.0.0" services="${escapeXml(baseUrl)}/service/tms">
  <Title>${escapeXml(title || "Tile Map Service")}</Title>
  <Abstract>${escapeXml(description || "A Tile Map Service served by Nuthatch")}</Abstract>
${words}  <TileMaps>
`;
  for (const layer of advertisedLayers(catalogue)) yield tileMapElements(layer, baseUrl);
  yield "  </TileMaps>\n</TileMapService>\n";
}

const tileMapElements = (layer: Layer, baseUrl: string): string =>
  layer.gridSubsets
    .flatMap(({ gridSet }) =>
      layer.formats.map(
        (format) =>
          `    <TileMap title="${escapeXml(layer.title || publicName(layer))}" srs="EPSG:${gridSet.srs}" profile="${profileOf(gridSet)}" href="${tileMapUrl(layer, gridSet, format, baseUrl)}"/>\n`,
      ),
    )
    .join("");

/**
 * Returns the document of one tile map. Its box is the box of the grid set, because clients count tiles from the corner
 * of the box.
 */
export function tileMapDocument(layer: Layer, subset: GridSubset, format: TileFormat, baseUrl: string): string {
  const grid = subset.gridSet;
  const origin = tileExtent(grid, asTileIndex({ x: 0, y: 0, z: subset.zoomStart }));
  const url = tileMapUrl(layer, grid, format, baseUrl);
  const sets = grid.matrices.flatMap((matrix, z) =>
    z < subset.zoomStart || z > subset.zoomStop
      ? []
      : [`    <TileSet href="${url}/${z}" units-per-pixel="${matrix.resolution}" order="${z - subset.zoomStart}"/>`],
  );
  return `${HEAD}<TileMap version="1.0.0" tilemapservice="${escapeXml(baseUrl)}/service/tms/1.0.0">
  <Title>${escapeXml(layer.title || publicName(layer))}</Title>
  <Abstract>${escapeXml(layer.description)}</Abstract>
  <SRS>EPSG:${grid.srs}</SRS>
  <BoundingBox minx="${plainNumber(origin.minX)}" miny="${plainNumber(origin.minY)}" maxx="${plainNumber(grid.extent.maxX)}" maxy="${plainNumber(grid.extent.maxY)}"/>
  <Origin x="${plainNumber(origin.minX)}" y="${plainNumber(origin.minY)}"/>
  <TileFormat width="${grid.tileWidth}" height="${grid.tileHeight}" mime-type="${escapeXml(format.mimeType)}" extension="${format.extension}"/>
  <TileSets profile="${profileOf(grid)}">
${sets.join("\n")}
  </TileSets>
</TileMap>
`;
}
