import { type Content, isMapNode, numberField, withoutUndefined } from "../content.ts";
import { type DocumentNode, fieldOf, itemsOf, type MapNode, mapOf, numberOf, textOf } from "../document-node.ts";

export function metadataUrls(node: MapNode): readonly Content[] | undefined {
  const urls = itemsOf(node, "metadataURLs").flatMap((item): Content[] =>
    isMapNode(item)
      ? [{ type: textOf(item, "type") ?? "", format: textOf(item, "format") ?? "", url: textOf(item, "url") ?? "" }]
      : [],
  );
  return urls.length > 0 ? urls : undefined;
}

export function formatModifiers(node: MapNode): readonly Content[] | undefined {
  const modifiers = itemsOf(node, "formatModifiers").flatMap((item): Content[] => {
    if (!isMapNode(item)) return [];
    const quality = numberField(item, "compressionQuality");
    return [
      withoutUndefined({
        format: textOf(item, "responseFormat") ?? "",
        requestFormat: textOf(item, "requestFormat") || undefined,
        transparent: fieldOf(item, "transparent"),
        bgColor: textOf(item, "bgColor") || undefined,
        palette: textOf(item, "palette") || undefined,
        jpegQuality: quality === undefined ? undefined : Math.max(quality > 0 ? 1 : 0, Math.round(quality * 100)),
      }),
    ];
  });
  return modifiers.length > 0 ? modifiers : undefined;
}

const FILTER_TYPES: Readonly<Record<string, string>> = {
  stringParameterFilter: "string",
  regexParameterFilter: "regex",
  floatParameterFilter: "float",
  integerParameterFilter: "integer",
};

export function filterContents(filters: DocumentNode | undefined): readonly Content[] | undefined {
  if (typeof filters !== "object" || filters.kind !== "list") return undefined;
  return filters.items.flatMap(([kind, filter]): Content[] => {
    if (!isMapNode(filter)) return [];
    const type = FILTER_TYPES[kind] ?? kind;
    const isNumeric = type === "float" || type === "integer";
    const rule = mapOf(filter, "normalize");
    const values = itemsOf(filter, "values");
    return [
      withoutUndefined({
        type,
        key: textOf(filter, "key") ?? "",
        default: textOf(filter, "defaultValue") ?? "",
        values: type === "regex" ? undefined : isNumeric ? values.map(numberOf) : values.map(String),
        regex: textOf(filter, "regex"),
        threshold: numberField(filter, "threshold"),
        normalize: isNumeric || rule === undefined ? undefined : (textOf(rule, "case") ?? "NONE").toUpperCase(),
      }),
    ];
  });
}

/** Returns the address of a legend that a WMS renders (GeoWebCache's `url` is the WMS). `layer` is the WMS's layer. */
function legendOfServer(server: string, layer: string, style: string, format: string, size: readonly number[]): string {
  const [width = 20, height = 20] = size;
  const query = { service: "WMS", version: "1.1.1", request: "GetLegendGraphic", layer, style, format, width, height };
  const text = Object.entries(query).map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
  return `${server}${server.includes("?") ? (/[?&]$/.test(server) ? "" : "&") : "?"}${text.join("&")}`;
}

/** Returns the styles that may have a legend: those of the STYLES filter, else only the unnamed style. */
function stylesOf(node: MapNode): ReadonlySet<string> {
  const filter = itemsOf(node, "parameterFilters").find(
    (item) => isMapNode(item) && (textOf(item, "key") ?? "").toUpperCase() === "STYLES",
  );
  if (filter === undefined || !isMapNode(filter)) return new Set([""]);
  return new Set([...itemsOf(filter, "values").map(String), textOf(filter, "defaultValue") ?? ""]);
}

/** Returns the legends of a layer. */
export function legendContents(node: MapNode): readonly Content[] | undefined {
  const legends = mapOf(node, "legends");
  const layer = textOf(node, "wmsLayers") || (textOf(node, "name") ?? "");
  const styles = stylesOf(node);
  if (legends === undefined) return undefined;
  const { defaultWidth, defaultHeight, defaultFormat } = legends.attributes;
  // A text that is not a number stays a text, so that the configuration refuses it.
  const number = (text: string | undefined): number | string | undefined =>
    text === undefined || Number.isNaN(Number(text)) ? text : Number(text);
  return itemsOf(legends, "legend").flatMap((legend): Content[] => {
    if (!isMapNode(legend)) return [];
    const style = legend.attributes["style"] ?? "";
    // GeoWebCache ignores legends of styles that the layer does not offer.
    if (!styles.has(style)) return [];
    const width = numberField(legend, "width") ?? number(defaultWidth);
    const height = numberField(legend, "height") ?? number(defaultHeight);
    const format = textOf(legend, "format") ?? defaultFormat;
    const server = textOf(legend, "url") || undefined;
    const size = [Number(width ?? 20), Number(height ?? 20)];
    return [
      withoutUndefined({
        style,
        width,
        height,
        format,
        url:
          textOf(legend, "completeUrl") ??
          (server && legendOfServer(server, layer, style, format ?? "image/png", size)),
        minScaleDenominator: numberField(legend, "minScale"),
        maxScaleDenominator: numberField(legend, "maxScale"),
      }),
    ];
  });
}
