import { defined } from "../../../lib/defined.ts";
import { isMapNode, itemsOf, type MapNode, map, textOf } from "../../gwc/document-node.ts";
import {
  contentOf,
  type Element,
  type Elements,
  type Keys,
  kept,
  keysOf,
  mapType,
  nodeOf,
  rankOf,
} from "../../gwc/element.ts";
import { decimal, inItem, integer, text } from "../../gwc/forms.ts";
import { LegendSchema } from "../layer-parts-schema.ts";
import { LayerSchema } from "../layer-schema.ts";

const of = keysOf(LegendSchema);
const LEGEND = {
  "@style": of("style", text, { missing: "" }),
  width: of("width", integer),
  height: of("height", integer),
  format: of("format", text),
  // The address of a WMS that renders the legend.
  url: kept("text"),
  completeUrl: of("url", text),
  minScale: of("minScaleDenominator", decimal),
  maxScale: of("maxScaleDenominator", decimal),
} satisfies Elements<Keys<typeof LegendSchema>>;

const WIDTH = 20;
const HEIGHT = 20;
const FORMAT = "image/png";

/** Returns the address of a legend that a WMS renders. `layer` is the WMS's layer. */
function legendOfServer(
  server: string,
  picture: Readonly<Record<"layer" | "style" | "format", string> & Record<"width" | "height", number>>,
): string {
  const query = { service: "WMS", version: "1.1.1", request: "GetLegendGraphic", ...picture };
  const pairs = Object.entries(query).map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
  return `${server}${server.includes("?") ? (/[?&]$/.test(server) ? "" : "&") : "?"}${pairs.join("&")}`;
}

/** Returns the styles that may have a legend: the styles of the STYLES filter, else only the unnamed style. */
function stylesOf(layer: MapNode): ReadonlySet<string> {
  const filter = itemsOf(layer, "parameterFilters").find(
    (item) => isMapNode(item) && (textOf(item, "key") ?? "").toUpperCase() === "STYLES",
  );
  if (!isMapNode(filter)) return new Set([""]);
  return new Set([...itemsOf(filter, "values").map(String), textOf(filter, "defaultValue") ?? ""]);
}

/** Returns a number. A text that is not a number stays a text, so that the configuration refuses it. */
const numberOrText = (given: string | undefined): number | string | undefined =>
  given === undefined || Number.isNaN(Number(given)) ? given : Number(given);

function legendsIn(legends: MapNode, layer: MapNode) {
  const { defaultWidth, defaultHeight, defaultFormat } = legends.attributes;
  const styles = stylesOf(layer);
  const name = textOf(layer, "wmsLayers") || (textOf(layer, "name") ?? "");
  return itemsOf(legends, "legend").flatMap((item) => {
    if (!isMapNode(item)) return [];
    const style = item.attributes["style"] ?? "";
    // GeoWebCache ignores legends of styles that the layer does not offer.
    if (!styles.has(style)) return [];
    const given = contentOf(LEGEND, item);
    const {
      width = numberOrText(defaultWidth),
      height = numberOrText(defaultHeight),
      format = defaultFormat,
      url,
    } = given;
    const server = textOf(item, "url");
    const picture = {
      layer: name,
      style,
      format: String(format ?? FORMAT),
      width: Number(width ?? WIDTH),
      height: Number(height ?? HEIGHT),
    };
    const made = server ? legendOfServer(server, picture) : undefined;
    return [defined({ ...given, width, height, format, url: url ?? made })];
  });
}

/** The legends, each with the name of its style. */
export const LEGENDS: Element<Pick<Keys<typeof LayerSchema>, "legends" | "parameterFilters">> = {
  type: {
    map: { legend: { repeated: mapType(LEGEND) } },
    attributes: ["defaultWidth", "defaultHeight", "defaultFormat"],
  },
  rank: rankOf(LayerSchema, "legends"),
  read(part, node, layer) {
    if (isMapNode(node)) part["legends"] = legendsIn(node, layer);
  },
  write({ legends = [], parameterFilters = [] }) {
    if (legends.length === 0) return undefined;
    const standard = String(parameterFilters.find(({ key }) => key === "STYLES")?.default ?? "");
    const items = legends.map((legend) => nodeOf(LEGEND, { ...legend, style: legend.style || standard }));
    const sizes = { defaultWidth: String(WIDTH), defaultHeight: String(HEIGHT), defaultFormat: FORMAT };
    return map([["legend", { kind: "repeated", items }]], sizes);
  },
  pathOf: (path, name) =>
    path.startsWith("legends[") ? `${name}.legend${inItem(LEGEND, path.slice("legends".length))}` : undefined,
};
