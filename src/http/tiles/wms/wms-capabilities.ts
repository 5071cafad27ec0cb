import { isYFirst } from "../../../grid/crs/axis-order.ts";
import { WORLD } from "../../../grid/extent.ts";
import { asTileIndex, canonicalSrs, type Extent, tileExtent } from "../../../grid/grid-set.ts";
import { advertisedLayers, type Catalogue, composesMaps } from "../../../layer/catalogue.ts";
import { listedValues, stylesFilter } from "../../../layer/filter/parameter-filter.ts";
import { type ImageFormat, PNG } from "../../../layer/format.ts";
import type { GridSubset } from "../../../layer/grid-subset.ts";
import { type Layer, type MetadataUrl, publicName } from "../../../layer/layer.ts";
import type { Legend } from "../../../layer/legend.ts";
import { imageFormats } from "../../../layer/picture/picture-format.ts";
import type { InspireLanguage } from "../../../layer/service-information.ts";
import { onceEach } from "../../../lib/once-each.ts";
import { escapeXml } from "../../../lib/text/escape.ts";
import { type CrsBox, crsBoxes, geographicBox } from "../geographic-box.ts";
import { inspireElements, inspireNamespaces } from "../inspire-elements.ts";
import { keywordElements, wmsService } from "../service-elements.ts";
import { isDefaultStyle, styleNames } from "../wmts/wmts-style.ts";
import { isQueryable } from "./info-address.ts";
import { legendAddress, legendOf, offersLegendGraphic } from "./legend-address.ts";
import type { WmsVersion } from "./wms-version.ts";

/** The longest side of a map in pixels. No browser shows a larger map. */
export const MAX_SIDE = 4096;
/** The most layers of one map. */
export const LAYER_LIMIT = 16;

/** The names of the formats of exceptions (OGC 06-042, 7.3.3.11, and OGC 01-068r3, 7.2.3.11). */
export const EXCEPTIONS = {
  "1.1.1": {
    xml: "application/vnd.ogc.se_xml",
    inimage: "application/vnd.ogc.se_inimage",
    blank: "application/vnd.ogc.se_blank",
  },
  "1.3.0": { xml: "XML", inimage: "INIMAGE", blank: "BLANK" },
} as const;

/** Returns whether a layer of the capabilities may be in maps of any extent. */
export const composesAnyMap = onceEach((catalogue: Catalogue): boolean =>
  advertisedLayers(catalogue).some((layer) => composesMaps(catalogue, layer)),
);

/** Returns the formats of pictures in the capabilities. */
export const mapFormats = onceEach((catalogue: Catalogue): readonly ImageFormat[] => {
  const pictures = imageFormats(advertisedLayers(catalogue).flatMap(({ formats }) => formats));
  return [...new Map(pictures.map((format) => [format.mimeType, format])).values()];
});

/** Returns the formats of maps. The schemas require one, even for a server without layers. */
function formatsOf(layers: readonly Layer[]): readonly string[] {
  const formats = new Set(layers.flatMap((l) => l.formats.map((f) => f.mimeType)));
  return formats.size === 0 ? [PNG.mimeType] : [...formats];
}

/** Returns the EPSG codes with which a CRS can be requested. Web mercator has several. */
const codesOf = ({ gridSet }: GridSubset): readonly number[] =>
  canonicalSrs(gridSet.srs) === 3857 ? [...new Set([gridSet.srs, 3857, 900913])] : [gridSet.srs];

const attributes = (e: Extent): string => `minx="${e.minX}" miny="${e.minY}" maxx="${e.maxX}" maxy="${e.maxY}"`;
const online = (base: string): string =>
  `<OnlineResource xmlns:xlink="http://www.w3.org/1999/xlink" xlink:type="simple" xlink:href="${base}/service/wms?"/>`;

const operation = (name: string, formats: readonly string[], base: string): string => `      <${name}>
${formats.map((f) => `        <Format>${escapeXml(f)}</Format>`).join("\n")}
        <DCPType><HTTP><Get>${online(base)}</Get></HTTP></DCPType>
      </${name}>`;

const stylesOf = (layer: Layer): readonly string[] => {
  const filter = stylesFilter(layer.parameterFilters);
  return (filter === undefined ? undefined : listedValues(filter))?.filter((v) => v !== "") ?? [];
};

/** Returns the codes that all layers have. Layers inherit the codes of the layer that contains them. */
function commonCodes(layers: readonly Layer[]): readonly number[] {
  const [first = [], ...others] = layers.map((layer) => [...crsBoxes(layer, codesOf).keys()]);
  return first.filter((code) => others.every((codes) => codes.includes(code)));
}

/**
 * Returns the Style elements of a layer. The unnamed default style gets a name if it has a legend, because a legend
 * needs a Style element.
 */
function styleElements(layer: Layer, baseUrl: string): string[] {
  const filter = stylesFilter(layer.parameterFilters);
  const styles = stylesOf(layer);
  const isNameless = (filter === undefined || filter.default === "") && legendOf(layer, undefined) !== undefined;
  const shown = isNameless ? styleNames(layer).filter((name) => name !== "") : styles;
  return shown.map((name) => {
    const legend = legendOf(layer, isDefaultStyle(layer, name) || name === filter?.default ? undefined : name);
    const picture = legend === undefined ? "" : legendElement(layer, legend, baseUrl);
    return `        <Style><Name>${escapeXml(name)}</Name><Title>${escapeXml(name)}</Title>${picture}</Style>`;
  });
}

function legendElement(layer: Layer, legend: Legend, baseUrl: string): string {
  const href = escapeXml(legendAddress(layer, legend, baseUrl));
  return `<LegendURL width="${legend.width}" height="${legend.height}"><Format>${escapeXml(legend.format)}</Format><OnlineResource xmlns:xlink="http://www.w3.org/1999/xlink" xlink:type="simple" xlink:href="${href}"/></LegendURL>`;
}

/**
 * Writes the capabilities of WMS 1.1.1 in parts, one for each layer, with WMS-C's tile sets in
 * VendorSpecificCapabilities if they are requested (`TILED=true`).
 */
export function* wmsCapabilities111(
  catalogue: Catalogue,
  baseUrl: string,
  tileSets: "listed" | "left out",
): Generator<string> {
  const isListed = tileSets === "listed" && advertisedLayers(catalogue).some(hasTileSets);
  yield `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE WMT_MS_Capabilities SYSTEM "http://schemas.opengis.net/wms/1.1.1/WMS_MS_Capabilities.dtd"${isListed ? `\n[\n${TILE_SET_DTD}\n]` : ""}>
<WMT_MS_Capabilities version="1.1.1">
`;
  yield* serviceAndLayers(catalogue, baseUrl, V111, { tileSets: isListed });
  yield "\n</WMT_MS_Capabilities>\n";
}

/** Writes the capabilities of WMS 1.3.0 (OGC 06-042) in parts, one for each layer. */
export function* wmsCapabilities130(
  catalogue: Catalogue,
  baseUrl: string,
  language?: InspireLanguage,
): Generator<string> {
  const { inspire, information } = catalogue.service;
  const { attributes: namespaces, schemas } = inspireNamespaces(inspire, "wms");
  const locator = `${baseUrl}/service/wms?SERVICE=WMS&VERSION=1.3.0&REQUEST=GetCapabilities`;
  yield `<?xml version="1.0" encoding="UTF-8"?>
<WMS_Capabilities version="1.3.0" xmlns="http://www.opengis.net/wms" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"${namespaces} xsi:schemaLocation="http://www.opengis.net/wms http://schemas.opengis.net/wms/1.3.0/capabilities_1_3_0.xsd${schemas}">
`;
  yield* serviceAndLayers(catalogue, baseUrl, V130, {
    extended: inspire === undefined ? "" : `\n${inspireElements(inspire, information, { language, locator })}`,
  });
  yield "\n</WMS_Capabilities>\n";
}

/** The differences between the capabilities of the versions. */
interface Version {
  readonly version: WmsVersion;
  readonly name: string;
  readonly type: string;
  readonly crs: "SRS" | "CRS";
  readonly geographic: (box: Extent) => string;
  readonly box: (box: CrsBox) => Extent;
  /** The elements of the CRS that all layers have. Without one, version 1.1.1 has an empty element (7.1.4.5.5). */
  readonly common: (codes: readonly number[]) => readonly string[];
  /** Whether `Service` has the limits of maps. */
  readonly hasLimits: boolean;
  /**
   * Whether GetLegendGraphic is listed as an operation. In 1.3.0 it belongs to another standard, and the addresses of
   * the legends suffice.
   */
  readonly hasLegends: boolean;
}

const V111: Version = {
  version: "1.1.1",
  name: "OGC:WMS",
  type: "application/vnd.ogc.wms_xml",
  crs: "SRS",
  geographic: (box) => `<LatLonBoundingBox ${attributes(box)}/>`,
  box: ({ box }) => box,
  common: (codes) => (codes.length === 0 ? ["<SRS></SRS>"] : codes.map((code) => `<SRS>EPSG:${code}</SRS>`)),
  hasLimits: false,
  hasLegends: true,
};

const V130: Version = {
  version: "1.3.0",
  name: "WMS",
  type: "text/xml",
  crs: "CRS",
  geographic: ({ minX, minY, maxX, maxY }) =>
    `<EX_GeographicBoundingBox><westBoundLongitude>${minX}</westBoundLongitude><eastBoundLongitude>${maxX}</eastBoundLongitude><southBoundLatitude>${minY}</southBoundLatitude><northBoundLatitude>${maxY}</northBoundLatitude></EX_GeographicBoundingBox>`,
  box: inAxisOrder,
  common: (codes) => codes.map((code) => `<CRS>EPSG:${code}</CRS>`),
  hasLimits: true,
  hasLegends: false,
};

function* serviceAndLayers(
  catalogue: Catalogue,
  baseUrl: string,
  version: Version,
  { tileSets = false, extended = "" }: { readonly tileSets?: boolean; readonly extended?: string },
): Generator<string> {
  const layers = advertisedLayers(catalogue);
  const infoFormats = [...new Set(layers.filter(isQueryable).flatMap((layer) => layer.infoFormats))];
  const base = escapeXml(baseUrl);
  const operations = [
    operation("GetCapabilities", [version.type], base),
    operation("GetMap", formatsOf(layers), base),
    ...(infoFormats.length > 0 ? [operation("GetFeatureInfo", infoFormats, base)] : []),
    ...(version.hasLegends && layers.some(offersLegendGraphic)
      ? [operation("GetLegendGraphic", ["image/png"], base)]
      : []),
  ];
  const isWhole = composesAnyMap(catalogue);
  const limits = [
    `<LayerLimit>${isWhole ? LAYER_LIMIT : 1}</LayerLimit>`,
    `<MaxWidth>${MAX_SIDE}</MaxWidth>`,
    `<MaxHeight>${MAX_SIDE}</MaxHeight>`,
  ];
  const { xml, inimage, blank } = EXCEPTIONS[version.version];
  const exceptions = isWhole ? [xml, inimage, blank] : [xml];
  yield `  <Service>
    <Name>${version.name}</Name>
    ${[wmsService(catalogue.service.information, "Web Map Service - Nuthatch", online(base)), ...(version.hasLimits ? limits : [])].join("\n    ")}
  </Service>
  <Capability>
    <Request>
${operations.join("\n")}
    </Request>
    <Exception>
${exceptions.map((name) => `      <Format>${name}</Format>`).join("\n")}
    </Exception>${extended}`;
  if (tileSets) {
    yield "\n    <VendorSpecificCapabilities>\n";
    for (const layer of layers) if (hasTileSets(layer)) yield `${tileSetElements(layer).join("\n")}\n`;
    yield "    </VendorSpecificCapabilities>";
  }
  yield `
    <Layer>
      <Title>${escapeXml(catalogue.service.information.title || "Nuthatch")}</Title>
      ${[...version.common(commonCodes(layers)), version.geographic(WORLD)].join("\n      ")}
`;
  for (const layer of layers) yield `${layerElement(layer, baseUrl, version)}\n`;
  yield "    </Layer>\n  </Capability>";
}

function layerElement(layer: Layer, baseUrl: string, { crs, geographic, box }: Version): string {
  const boxes = [...crsBoxes(layer, codesOf)];
  const keywords = keywordElements("KeywordList", "Keyword", layer.keywords);
  return [
    isQueryable(layer) ? '      <Layer queryable="1">' : "      <Layer>",
    `        <Name>${escapeXml(publicName(layer))}</Name>`,
    `        <Title>${escapeXml(layer.title || publicName(layer))}</Title>`,
    `        <Abstract>${escapeXml(layer.description)}</Abstract>`,
    ...(keywords === "" ? [] : [`        ${keywords}`]),
    ...boxes.map(([code]) => `        <${crs}>EPSG:${code}</${crs}>`),
    `        ${geographic(geographicBox(layer) ?? WORLD)}`,
    ...boxes.map(([code, found]) => `        <BoundingBox ${crs}="EPSG:${code}" ${attributes(box(found))}/>`),
    ...attributionElements(layer),
    ...layer.metadataUrls.map(metadataElement),
    ...styleElements(layer, baseUrl),
    "      </Layer>",
  ].join("\n");
}

/** Returns Attribution, which has a plain text and one address (WMS 1.3.0, 7.2.4.6.7): the first link in the text. */
function attributionElements({ attribution = "" }: Layer): readonly string[] {
  const text = attribution
    .replace(/<[^<>]*>/g, "")
    .replace(/&(amp|lt|gt|quot|copy|nbsp|#39);/g, (whole, name: string) => ENTITIES[name] ?? whole)
    .trim();
  const url = /<a\s[^<>]*href="(https?:[^"<>]+)"/i.exec(attribution)?.[1]?.replaceAll("&amp;", "&");
  if (text === "" && url === undefined) return [];
  const title = text === "" ? "" : `<Title>${escapeXml(text)}</Title>`;
  return [`        <Attribution>${title}${url === undefined ? "" : onlineResource(url)}</Attribution>`];
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  copy: "©",
  nbsp: " ",
  "#39": "'",
};

const onlineResource = (url: string): string =>
  `<OnlineResource xmlns:xlink="http://www.w3.org/1999/xlink" xlink:type="simple" xlink:href="${escapeXml(url)}"/>`;

const metadataElement = ({ type, format, url }: MetadataUrl): string =>
  `        <MetadataURL type="${escapeXml(type)}"><Format>${escapeXml(format)}</Format>${onlineResource(url)}</MetadataURL>`;

/** Returns a box in the axis order of its CRS. */
function inAxisOrder({ subset, box: e }: CrsBox): Extent {
  return isYFirst(subset.gridSet) ? { minX: e.minY, minY: e.minX, maxX: e.maxY, maxY: e.maxX } : e;
}

const TILE_SET_DTD = `<!ELEMENT VendorSpecificCapabilities (TileSet*) >
<!ELEMENT TileSet (SRS, BoundingBox?, Resolutions, Width, Height, Format, Layers*, Styles*) >
<!ELEMENT Resolutions (#PCDATA) >
<!ELEMENT Width (#PCDATA) >
<!ELEMENT Height (#PCDATA) >
<!ELEMENT Layers (#PCDATA) >
<!ELEMENT Styles (#PCDATA) >`;

/** Returns the grid set's box, not the coverage, because WMS-C clients count tiles from its lower left corner. */
function gridBox({ gridSet, zoomStart }: GridSubset): Extent {
  const { minX, minY } = tileExtent(gridSet, asTileIndex({ x: 0, y: 0, z: zoomStart }));
  return { ...gridSet.extent, minX, minY };
}

const hasTileSets = ({ gridSubsets, formats }: Layer): boolean => gridSubsets.length > 0 && formats.length > 0;

function tileSetElements(layer: Layer): string[] {
  return layer.gridSubsets.flatMap((subset) =>
    layer.formats.map((format) => {
      const grid = subset.gridSet;
      const offered = grid.matrices.slice(subset.zoomStart, subset.zoomStop + 1);
      return `      <TileSet>
        <SRS>EPSG:${grid.srs}</SRS>
        <BoundingBox SRS="EPSG:${grid.srs}" ${attributes(gridBox(subset))}/>
        <Resolutions>${offered.map((m) => m.resolution).join(" ")}</Resolutions>
        <Width>${grid.tileWidth}</Width>
        <Height>${grid.tileHeight}</Height>
        <Format>${escapeXml(format.mimeType)}</Format>
        <Layers>${escapeXml(publicName(layer))}</Layers>
        <Styles></Styles>
      </TileSet>`;
    }),
  );
}
