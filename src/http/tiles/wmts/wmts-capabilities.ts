import {
  asZoom,
  canonicalSrs,
  type Extent,
  type GridSet,
  matrixRect,
  plainNumber,
  topLeftCorner,
  type Zoom,
} from "../../../grid/grid-set.ts";
import { advertisedLayers, type Catalogue } from "../../../layer/catalogue.ts";
import { listedValues, type ParameterFilter } from "../../../layer/filter/parameter-filter.ts";
import { coverageAt, type GridSubset } from "../../../layer/grid-subset.ts";
import { type Layer, publicName } from "../../../layer/layer.ts";
import type { Legend } from "../../../layer/legend.ts";
import type { InspireLanguage } from "../../../layer/service-information.ts";
import { escapeXml } from "../../../lib/text/escape.ts";
import { type CrsBox, crsBoxes, geographicBox } from "../geographic-box.ts";
import { inspireElements, inspireNamespaces } from "../inspire-elements.ts";
import { keywordElements, owsIdentification, owsProvider } from "../service-elements.ts";
import { offeredRange } from "../tile-parts.ts";
import { isQueryable } from "../wms/info-address.ts";
import { legendAddress, legendOf } from "../wms/legend-address.ts";
import { styleNames } from "./wmts-style.ts";

/**
 * The sections of the capabilities that a request can name (OGC 07-057r7, table 4). No server here has themes, which a
 * request may name too.
 */
export const SECTIONS = ["ServiceIdentification", "ServiceProvider", "OperationsMetadata", "Contents"] as const;
export type Section = (typeof SECTIONS)[number];

/** The types of the capabilities that a request can name in AcceptFormats. */
export const CAPABILITIES_TYPES = ["application/xml", "text/xml"] as const;

const REST_CAPABILITIES = "service/wmts/rest/WMTSCapabilities.xml";

/**
 * Writes WMTS 1.0.0 capabilities (OGC 07-057r7, 7.1.1) in parts, one for each layer, in GWC's order
 * (`docs/explanation/geowebcache.md`, Tile services).
 * @param sections the sections to write; without them all sections and the addresses of the document
 */
export function* wmtsCapabilities(
  catalogue: Catalogue,
  baseUrl: string,
  sections?: ReadonlySet<Section>,
  language?: InspireLanguage,
): Generator<string> {
  const { information, updateSequence, inspire } = catalogue.service;
  const { attributes, schemas } = inspireNamespaces(inspire, "wmts");
  const layers = advertisedLayers(catalogue);
  const base = escapeXml(baseUrl);
  const has = (section: Section): boolean => sections?.has(section) ?? true;
  yield `<?xml version="1.0" encoding="UTF-8"?>
<Capabilities xmlns="http://www.opengis.net/wmts/1.0" xmlns:ows="http://www.opengis.net/ows/1.1" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"${attributes} xsi:schemaLocation="http://www.opengis.net/wmts/1.0 http://schemas.opengis.net/wmts/1.0/wmtsGetCapabilities_response.xsd${schemas}" version="1.0.0" updateSequence="${updateSequence}">
`;
  if (has("ServiceIdentification"))
    yield `${owsIdentification(information, { title: "Web Map Tile Service - Nuthatch", type: "OGC WMTS" })}\n`;
  if (has("ServiceProvider")) yield `${owsProvider(information, { name: `${baseUrl}/service/wmts`, site: baseUrl })}\n`;
  if (has("OperationsMetadata")) {
    const locator = `${baseUrl}/${REST_CAPABILITIES}`;
    const extended = inspire && inspireElements(inspire, information, { language, locator });
    yield `${operationsMetadata(layers, base, extended)}\n`;
  }
  if (has("Contents")) {
    const grids = new Map<string, GridSet>();
    for (const layer of layers) for (const { gridSet } of layer.gridSubsets) grids.set(gridSet.id, gridSet);
    yield "<Contents>\n";
    for (const layer of layers) yield `${layerElement(layer, base, baseUrl)}\n`;
    for (const grid of [...grids.values()].sort((a, b) => (a.id < b.id ? -1 : 1))) yield `${matrixSetElement(grid)}\n`;
    yield "</Contents>\n";
  }
  if (sections === undefined)
    yield `<ServiceMetadataURL xlink:href="${base}/service/wmts?SERVICE=wmts&amp;REQUEST=getcapabilities&amp;VERSION=1.0.0"/>
<ServiceMetadataURL xlink:href="${base}/${REST_CAPABILITIES}"/>
`;
  yield "</Capabilities>\n";
}

/**
 * Returns whether WMTS documents of this grid set have y before x. The grid set decides; its default is the axis order
 * of its CRS. EPSG:3857 always has x before y, because otherwise every reader would place the layer off the map.
 */
const isYFirst = (grid: GridSet): boolean => grid.yCoordinateFirst && canonicalSrs(grid.srs) !== 3857;

/** Returns the operations with their addresses. The KVP address is the first, because some clients read only one. */
function operationsMetadata(layers: readonly Layer[], base: string, extended: string | undefined): string {
  const tiles = `${base}/service/wmts/rest/`;
  const values = {
    AcceptVersions: ["1.0.0"],
    Sections: [...SECTIONS, "All"],
    AcceptFormats: CAPABILITIES_TYPES,
  };
  const parameters = Object.entries(values).map(
    ([name, allowed]) =>
      `    <ows:Parameter name="${name}">\n${allowedValues(allowed, "      ")}\n    </ows:Parameter>`,
  );
  return [
    "<ows:OperationsMetadata>",
    operation("GetCapabilities", base, `${base}/${REST_CAPABILITIES}`, parameters),
    operation("GetTile", base, tiles),
    ...(layers.some(isQueryable) ? [operation("GetFeatureInfo", base, tiles)] : []),
    ...(extended === undefined ? [] : [extended]),
    "</ows:OperationsMetadata>",
  ].join("\n");
}

const operation = (name: string, base: string, rest: string, parameters: readonly string[] = []): string =>
  [
    `  <ows:Operation name="${name}">
    <ows:DCP>
      <ows:HTTP>
${getElement(`${base}/service/wmts?`, "KVP")}
${getElement(rest, "RESTful")}
      </ows:HTTP>
    </ows:DCP>`,
    ...parameters,
    "  </ows:Operation>",
  ].join("\n");

const getElement = (address: string, encoding: "KVP" | "RESTful"): string => `        <ows:Get xlink:href="${address}">
          <ows:Constraint name="GetEncoding">
${allowedValues([encoding], "            ")}
          </ows:Constraint>
        </ows:Get>`;

const allowedValues = (values: readonly string[], indent: string): string =>
  [
    `${indent}<ows:AllowedValues>`,
    ...values.map((value) => `${indent}  <ows:Value>${value}</ows:Value>`),
    `${indent}</ows:AllowedValues>`,
  ].join("\n");

function layerElement(layer: Layer, base: string, baseUrl: string): string {
  const box = geographicBox(layer);
  const dimensions = layer.parameterFilters.filter((f) => listedValues(f) !== undefined && f.key !== "STYLES");
  const infoFormats = isQueryable(layer) ? layer.infoFormats : [];
  const keywords = keywordElements("ows:Keywords", "ows:Keyword", layer.keywords);
  return [
    "  <Layer>",
    `    <ows:Title>${escapeXml(layer.title || publicName(layer))}</ows:Title>`,
    layer.description === "" ? undefined : `    <ows:Abstract>${escapeXml(layer.description)}</ows:Abstract>`,
    keywords === "" ? undefined : `    ${keywords}`,
    box === undefined ? undefined : boxElement(box),
    `    <ows:Identifier>${escapeXml(publicName(layer))}</ows:Identifier>`,
    ...[...crsBoxes(layer).values()].map(crsBoxElement),
    ...layer.metadataUrls.map(
      ({ url, type }) =>
        `    <ows:Metadata xlink:type="simple" xlink:href="${escapeXml(url)}" about="${escapeXml(type)}"/>`,
    ),
    ...styleNames(layer).map((name, position) => styleElement(layer, name, position, baseUrl)),
    ...layer.formats.map((f) => `    <Format>${escapeXml(f.mimeType)}</Format>`),
    ...infoFormats.map((f) => `    <InfoFormat>${escapeXml(f)}</InfoFormat>`),
    ...dimensions.map(dimensionElement),
    ...layer.gridSubsets.map(linkElement),
    ...layer.formats.map((f) => resourceElement(layer, f.mimeType, "tile", dimensions, base)),
    ...infoFormats.map((f) => resourceElement(layer, f, "FeatureInfo", dimensions, base)),
    "  </Layer>",
  ]
    .filter((line) => line !== undefined)
    .join("\n");
}

const boxElement = (box: Extent): string => `    <ows:WGS84BoundingBox>
      <ows:LowerCorner>${box.minX} ${box.minY}</ows:LowerCorner>
      <ows:UpperCorner>${box.maxX} ${box.maxY}</ows:UpperCorner>
    </ows:WGS84BoundingBox>`;

/**
 * Returns a box in its CRS. Without it GDAL transforms the geographic box and requests tiles outside of the coverage.
 */
function crsBoxElement({ subset, box }: CrsBox): string {
  const { minX, minY, maxX, maxY } = box;
  const [lower, upper] = isYFirst(subset.gridSet)
    ? [`${minY} ${minX}`, `${maxY} ${maxX}`]
    : [`${minX} ${minY}`, `${maxX} ${maxY}`];
  return `    <ows:BoundingBox crs="urn:ogc:def:crs:EPSG::${subset.gridSet.srs}">
      <ows:LowerCorner>${lower}</ows:LowerCorner>
      <ows:UpperCorner>${upper}</ows:UpperCorner>
    </ows:BoundingBox>`;
}

/** Returns the element of a style. The style at position 0 is the default. */
function styleElement(layer: Layer, name: string, position: number, baseUrl: string): string {
  const legend = legendOf(layer, position === 0 ? undefined : name);
  return [
    `    <Style${position === 0 ? ' isDefault="true"' : ""}>`,
    `      <ows:Identifier>${escapeXml(name)}</ows:Identifier>`,
    ...(legend === undefined ? [] : [legendElement(layer, legend, baseUrl)]),
    "    </Style>",
  ].join("\n");
}

function legendElement(layer: Layer, legend: Legend, baseUrl: string): string {
  const attributes = {
    format: legend.format,
    "xlink:href": legendAddress(layer, legend, baseUrl),
    minScaleDenominator: legend.minScaleDenominator,
    maxScaleDenominator: legend.maxScaleDenominator,
    width: legend.width,
    height: legend.height,
  };
  const written = Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [` ${key}="${escapeXml(String(value))}"`],
  );
  return `      <LegendURL${written.join("")}/>`;
}

function dimensionElement(filter: ParameterFilter): string {
  const shown = (listedValues(filter) ?? []).filter((v) => v !== "");
  return [
    "    <Dimension>",
    `      <ows:Identifier>${escapeXml(filter.key)}</ows:Identifier>`,
    `      <Default>${escapeXml(filter.default)}</Default>`,
    // The schema requires at least one value.
    ...(shown.length === 0 ? [""] : shown).map((v) => `      <Value>${escapeXml(v)}</Value>`),
    "    </Dimension>",
  ].join("\n");
}

/** Returns whether a subset offers all tiles of every level, so that it needs no limits. */
const isWhole = (subset: GridSubset): boolean =>
  subset.gridSet.matrices.every((_, z) => {
    const offered = coverageAt(subset, asZoom(z));
    const all = matrixRect(subset.gridSet, asZoom(z));
    return (
      offered !== undefined &&
      offered.minX === all.minX &&
      offered.minY === all.minY &&
      offered.maxX === all.maxX &&
      offered.maxY === all.maxY
    );
  });

function linkElement(subset: GridSubset): string {
  const id = `      <TileMatrixSet>${escapeXml(subset.gridSet.id)}</TileMatrixSet>`;
  const limits = isWhole(subset)
    ? []
    : subset.gridSet.matrices.flatMap((m, z) => limitsElement(subset, m.name, asZoom(z)));
  const lines = limits.length === 0 ? [] : ["      <TileMatrixSetLimits>", ...limits, "      </TileMatrixSetLimits>"];
  return ["    <TileMatrixSetLink>", id, ...lines, "    </TileMatrixSetLink>"].join("\n");
}

function limitsElement(subset: GridSubset, name: string, z: Zoom): string[] {
  const range = offeredRange(subset, z, "top");
  if (range === undefined) return [];
  return [
    `        <TileMatrixLimits>
          <TileMatrix>${escapeXml(name)}</TileMatrix>
          <MinTileRow>${range.minRow}</MinTileRow>
          <MaxTileRow>${range.maxRow}</MaxTileRow>
          <MinTileCol>${range.minColumn}</MinTileCol>
          <MaxTileCol>${range.maxColumn}</MaxTileCol>
        </TileMatrixLimits>`,
  ];
}

function resourceElement(
  layer: Layer,
  mimeType: string,
  type: "tile" | "FeatureInfo",
  dimensions: readonly ParameterFilter[],
  base: string,
): string {
  const pixel = type === "tile" ? "" : "/{J}/{I}";
  const path = `${encodeURIComponent(publicName(layer))}/{style}/{TileMatrixSet}/{TileMatrix}/{TileRow}/{TileCol}${pixel}`;
  const rest = dimensions.map(({ key }) => `&${encodeURIComponent(key)}={${key}}`).join("");
  const template = `${base}/service/wmts/rest/${escapeXml(`${path}?format=${mimeType}${rest}`)}`;
  return `    <ResourceURL format="${escapeXml(mimeType)}" resourceType="${type}" template="${template}"/>`;
}

function matrixSetElement(grid: GridSet): string {
  return [
    "  <TileMatrixSet>",
    grid.title === undefined ? undefined : `    <ows:Title>${escapeXml(grid.title)}</ows:Title>`,
    `    <ows:Identifier>${escapeXml(grid.id)}</ows:Identifier>`,
    `    <ows:SupportedCRS>urn:ogc:def:crs:EPSG::${grid.srs}</ows:SupportedCRS>`,
    ...grid.matrices.map((_, z) => matrixElement(grid, asZoom(z))),
    "  </TileMatrixSet>",
  ]
    .filter((line) => line !== undefined)
    .join("\n");
}

function matrixElement(grid: GridSet, z: Zoom): string {
  const matrix = grid.matrices[z];
  if (matrix === undefined) return "";
  const { x, y } = topLeftCorner(grid, z);
  const corner = isYFirst(grid) ? [y, x] : [x, y];
  return `    <TileMatrix>
      <ows:Identifier>${escapeXml(matrix.name)}</ows:Identifier>
      <ScaleDenominator>${matrix.scaleDenominator}</ScaleDenominator>
      <TopLeftCorner>${corner.map(plainNumber).join(" ")}</TopLeftCorner>
      <TileWidth>${grid.tileWidth}</TileWidth>
      <TileHeight>${grid.tileHeight}</TileHeight>
      <MatrixWidth>${matrix.matrixWidth}</MatrixWidth>
      <MatrixHeight>${matrix.matrixHeight}</MatrixHeight>
    </TileMatrix>`;
}
