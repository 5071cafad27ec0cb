import { stylesFilter } from "../../../layer/filter/parameter-filter.ts";
import { type Layer, publicName } from "../../../layer/layer.ts";
import type { Legend } from "../../../layer/legend.ts";
import { rendersLegends } from "../../../layer/source-options.ts";
import { badField } from "../../../lib/refusal.ts";
import { ok, refuse } from "../../../lib/result.ts";
import { findLayer, type QueryParser } from "../tile-parts.ts";
import { isDefaultStyle } from "../wmts/wmts-style.ts";

/** Returns whether capabilities offer GetLegendGraphic for a layer. */
export const offersLegendGraphic = (layer: Layer): boolean =>
  rendersLegends(layer.source) && layer.legends.some(({ url }) => url === undefined);

/** Returns the legend of a style by its name in the STYLES filter. An undefined `style` is the default style. */
export function legendOf(layer: Layer, style: string | undefined): Legend | undefined {
  return layer.legends.find((legend) => legend.style === (style ?? ""));
}

/**
 * Returns the address of a legend for clients: its configured address, else an address of this server. Never shows the
 * upstream's address.
 */
export function legendAddress(layer: Layer, legend: Legend, baseUrl: string): string {
  if (legend.url !== undefined) return legend.url;
  const query = Object.entries({
    SERVICE: "WMS",
    VERSION: "1.1.1",
    REQUEST: "GetLegendGraphic",
    LAYER: publicName(layer),
    STYLE: legend.style,
    FORMAT: legend.format,
    WIDTH: String(legend.width),
    HEIGHT: String(legend.height),
  }).map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
  return `${baseUrl}/service/wms?${query.join("&")}`;
}

/**
 * The parameters that are passed on in addition to layer, style and format, and their forms. SLD and SLD_BODY are not
 * passed on, because with them a client could make the upstream fetch any address and render any style.
 */
const OPTIONS: ReadonlyMap<string, RegExp> = new Map([
  ["WIDTH", /^[1-9]\d{0,3}$/],
  ["HEIGHT", /^[1-9]\d{0,3}$/],
  ["SCALE", /^\d+(\.\d+)?(e\+?\d{1,2})?$/i],
  ["RULE", /^.{1,256}$/],
  ["FEATURETYPE", /^.{1,256}$/],
  ["LEGEND_OPTIONS", /^.{1,1024}$/],
  ["LANGUAGE", /^[\w-]{1,32}$/],
  ["TRANSPARENT", /^(true|false)$/i],
  ["BGCOLOR", /^(0x|#)[0-9a-f]{6}$/i],
]);

/**
 * Parses GetLegendGraphic of a layer's style. The request is sent to the layer's source. GWC passes it on verbatim
 * (`docs/explanation/geowebcache.md`, Tile services).
 */
export const parseGetLegendGraphic: QueryParser = (catalogue, query) => {
  const name = query.get("LAYER") ?? query.get("LAYERS") ?? "";
  const layer = findLayer(catalogue, name);
  if (!layer.ok) return refuse({ ...layer.error, exception: { code: "LayerNotDefined" } });
  if (!rendersLegends(layer.value.source)) {
    const refusal = badField("LAYER", "a layer whose source is a WMS, because only a WMS renders legends", name);
    return refuse({ ...refusal, exception: { code: "OperationNotSupported" } });
  }
  const given = query.get("STYLE") ?? query.get("STYLES") ?? "";
  const isDefault = isDefaultStyle(layer.value, given);
  const filter = stylesFilter(layer.value.parameterFilters);
  const style = isDefault ? (filter?.default ?? "") : given;
  const format = query.get("FORMAT") || legendOf(layer.value, isDefault ? undefined : style)?.format || "image/png";
  if (!/^[\w.+-]{1,64}\/[\w.+-]{1,64}$/.test(format))
    return refuse({
      ...badField("FORMAT", "a MIME type such as image/png", format),
      exception: { code: "InvalidFormat" },
    });
  const options: Record<string, string> = {};
  for (const [key, form] of OPTIONS) {
    const value = query.get(key) ?? "";
    if (value === "") continue;
    if (!form.test(value)) return refuse(badField(key, `a text of the form ${form.source}`, value));
    options[key] = value;
  }
  return ok({ kind: "info", query: { layer: layer.value, request: { kind: "legend", style, format, options } } });
};
