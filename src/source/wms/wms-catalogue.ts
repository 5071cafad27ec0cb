import { isNorthFirst } from "../../grid/crs/axis-order.ts";
import type { Extent } from "../../grid/grid-set.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { childrenNamed, firstAt, localName, parseXml, type XmlElement } from "../../lib/text/xml-element.ts";
import { ownWords } from "../http/response-text.ts";

/** The parts of a WMS's capabilities that a configuration needs. */
export interface WmsCatalogue {
  readonly version: "1.1.1" | "1.3.0";
  readonly title: string;
  /** MIME types of GetMap. */
  readonly formats: readonly string[];
  /**
   * The largest picture that the WMS renders, in pixels. Undefined if the capabilities state no limit (1.3.0, 7.2.4.4).
   */
  readonly maxWidth: number | undefined;
  readonly maxHeight: number | undefined;
  /** The most layers in one request. Undefined if the capabilities state no limit. */
  readonly layerLimit: number | undefined;
  /** The layers with a name, which can be requested, in the order of the document. */
  readonly layers: readonly WmsCatalogueLayer[];
}

export interface WmsCatalogueLayer {
  readonly name: string;
  readonly title: string;
  readonly abstract: string;
  readonly queryable: boolean;
  /** The CRSs of the layer and of its parent layers, such as `EPSG:4326`, in upper case. */
  readonly crs: ReadonlySet<string>;
  /** West, south, east, north in degrees. Undefined if the capabilities have no box. */
  readonly box: readonly [number, number, number, number] | undefined;
  /**
   * The layer's exact boxes by CRS, such as `EPSG:25832`, x first. Contains only the CRSs for which the document gives
   * a box.
   */
  readonly boxes: ReadonlyMap<string, Extent>;
  readonly styles: readonly string[];
  /** Legends of known size, by the style that they explain. */
  readonly legends: ReadonlyMap<string, WmsLegend>;
  readonly dimensions: readonly WmsDimension[];
}

/** A dimension (OGC 06-042, annex C). In 1.1.1 the values are in an Extent element. */
export interface WmsDimension {
  readonly name: string;
  readonly default: string;
  /** The values unchanged: a list of values or of intervals. */
  readonly values: readonly string[];
}

export interface WmsLegend {
  readonly width: number;
  readonly height: number;
  readonly format: string;
  readonly url: string;
}

const trimmedText = (element: XmlElement | undefined): string => element?.text.trim() ?? "";
const numberOf = (element: XmlElement | undefined): number | undefined => {
  const value = Number(trimmedText(element) || Number.NaN);
  return Number.isFinite(value) ? value : undefined;
};

/** Returns a numeric attribute; NaN if the attribute is missing. */
const attributeOf = (element: XmlElement | undefined, name: string): number =>
  Number(element?.attributes[name] || Number.NaN);
const sidesOf = (box: XmlElement | undefined): readonly [number, number, number, number] => [
  attributeOf(box, "minx"),
  attributeOf(box, "miny"),
  attributeOf(box, "maxx"),
  attributeOf(box, "maxy"),
];

/** Parses the capabilities of WMS 1.1.1 or 1.3.0. Refuses other documents with the reason. */
export function readWmsCatalogue(xml: string): Result<WmsCatalogue, string> {
  const parsed = parseXml(xml);
  const withOwnWords = (what: string): string => {
    const own = ownWords(Buffer.from(xml));
    return own === "" ? what : `${what}: ${own}`;
  };
  if (!parsed.ok) return refuse(withOwnWords(`no XML (${parsed.error})`));
  const root = parsed.value;
  if (root.name !== "WMS_Capabilities" && root.name !== "WMT_MS_Capabilities")
    return refuse(withOwnWords(`expected WMS capabilities, got ${root.name}`));
  const service = firstAt(root, "Service");
  const layers: WmsCatalogueLayer[] = [];
  for (const layer of childrenNamed(firstAt(root, "Capability"), "Layer")) collect(layer, NOTHING, layers);
  return ok({
    version: root.attributes["version"]?.startsWith("1.3") === true ? "1.3.0" : "1.1.1",
    title: trimmedText(firstAt(service, "Title")),
    formats: childrenNamed(firstAt(root, "Capability", "Request", "GetMap"), "Format").map(trimmedText),
    maxWidth: numberOf(firstAt(service, "MaxWidth")),
    maxHeight: numberOf(firstAt(service, "MaxHeight")),
    layerLimit: numberOf(firstAt(service, "LayerLimit")),
    layers,
  });
}

/** The properties that a layer inherits from its parent layers (1.3.0, 7.2.4.8). */
type Inherited = Pick<WmsCatalogueLayer, "crs" | "box" | "boxes" | "styles" | "legends" | "dimensions">;
const NOTHING: Inherited = {
  crs: new Set(),
  box: undefined,
  boxes: new Map(),
  styles: [],
  legends: new Map(),
  dimensions: [],
};

function collect(element: XmlElement, around: Inherited, into: WmsCatalogueLayer[]): void {
  // 1.1.1 allows several CRSs in one element.
  const own = ["CRS", "SRS"]
    .flatMap((name) => childrenNamed(element, name))
    .flatMap((e) => trimmedText(e).toUpperCase().split(/\s+/));
  const styles = childrenNamed(element, "Style");
  const dimensions = new Map(around.dimensions.map((dimension) => [dimension.name, dimension]));
  for (const dimension of dimensionsOf(element)) dimensions.set(dimension.name, dimension);
  const here: Inherited = {
    crs: new Set([...around.crs, ...own.filter((code) => code !== "")]),
    box: boxOf(element) ?? around.box,
    boxes: new Map([...around.boxes, ...childrenNamed(element, "BoundingBox").flatMap(boxInCrs)]),
    styles: [...new Set([...around.styles, ...styles.map((style) => trimmedText(firstAt(style, "Name")))])],
    legends: new Map([...around.legends, ...styles.flatMap(legendOf)]),
    dimensions: [...dimensions.values()],
  };
  const name = trimmedText(firstAt(element, "Name"));
  if (name !== "") {
    into.push({
      name,
      title: trimmedText(firstAt(element, "Title")) || name,
      abstract: trimmedText(firstAt(element, "Abstract")),
      queryable: element.attributes["queryable"] === "1" || element.attributes["queryable"] === "true",
      ...here,
    });
  }
  for (const child of childrenNamed(element, "Layer")) collect(child, here, into);
}

/** Returns the first legend of a style. Most map servers have only one legend per style. */
function legendOf(style: XmlElement): (readonly [string, WmsLegend])[] {
  const legend = firstAt(style, "LegendURL");
  const [width, height] = [attributeOf(legend, "width"), attributeOf(legend, "height")];
  const online = Object.entries(firstAt(legend, "OnlineResource")?.attributes ?? {});
  const url = online.find(([key]) => localName(key) === "href")?.[1].trim() ?? "";
  const isWhole = [width, height].every((n) => Number.isSafeInteger(n) && n > 0 && n < 10_000);
  if (!isWhole || !URL.canParse(url)) return [];
  const format = trimmedText(firstAt(legend, "Format")) || "image/png";
  return [[trimmedText(firstAt(style, "Name")), { width, height, format, url }]];
}

function boxOf(element: XmlElement): WmsCatalogueLayer["box"] {
  const modern = firstAt(element, "EX_GeographicBoundingBox");
  const old = firstAt(element, "LatLonBoundingBox");
  const box: WmsCatalogueLayer["box"] =
    modern === undefined
      ? sidesOf(old)
      : [
          numberOf(firstAt(modern, "westBoundLongitude")) ?? Number.NaN,
          numberOf(firstAt(modern, "southBoundLatitude")) ?? Number.NaN,
          numberOf(firstAt(modern, "eastBoundLongitude")) ?? Number.NaN,
          numberOf(firstAt(modern, "northBoundLatitude")) ?? Number.NaN,
        ];
  return box.every(Number.isFinite) ? box : undefined;
}

/** Returns the box of a CRS. In 1.3.0 (attribute CRS) the axes have the order of the CRS; in 1.1.1 (SRS) x is first. */
function boxInCrs(element: XmlElement): (readonly [string, Extent])[] {
  const { attributes } = element;
  const crs = (attributes["CRS"] ?? attributes["SRS"] ?? "").toUpperCase();
  const code = Number(/^EPSG:(\d{1,9})$/.exec(crs)?.[1] ?? Number.NaN);
  const swapped = "CRS" in attributes && isNorthFirst(code) === true;
  const [a, b, c, d] = sidesOf(element);
  const box = swapped ? { minX: b, minY: a, maxX: d, maxY: c } : { minX: a, minY: b, maxX: c, maxY: d };
  return crs !== "" && box.minX < box.maxX && box.minY < box.maxY ? [[crs, box]] : [];
}

function dimensionsOf(element: XmlElement): WmsDimension[] {
  const extents = new Map(
    childrenNamed(element, "Extent").map((extent) => [extent.attributes["name"]?.toUpperCase(), extent]),
  );
  return childrenNamed(element, "Dimension").flatMap((dimension) => {
    const name = dimension.attributes["name"]?.toUpperCase() ?? "";
    const stated = trimmedText(dimension) === "" ? (extents.get(name) ?? dimension) : dimension;
    const values = trimmedText(stated)
      .split(",")
      .map((value) => value.trim())
      .filter((value) => value !== "");
    return name === "" || values.length === 0 ? [] : [{ name, default: stated.attributes["default"] ?? "", values }];
  });
}
