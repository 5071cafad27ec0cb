import type { WmsCatalogue, WmsCatalogueLayer } from "../../source/wms/wms-catalogue.ts";
import { type ImportedGrids, mergedGridSets, type OwnGridSet } from "./import-grids.ts";

/** The widest metatile that a layer gets by default, in tiles of 256 pixels. */
const METATILE = 4;
const TILE = 256;
/** Formats that browsers show. An imported layer gets those of them that the WMS offers. */
const FORMATS = ["image/png", "image/jpeg", "image/webp"];

/** The values that the command line sets for every imported layer. */
export interface ImportSettings {
  /** The address of the WMS. */
  readonly url: string;
  /** Put before the name of each layer. */
  readonly prefix?: string;
  readonly username?: string;
  /** The name of the environment variable that holds the password. */
  readonly passwordVariable?: string;
}

/** A layer of the WMS and the grid sets in which it is cached. */
interface ImportedLayer {
  readonly layer: WmsCatalogueLayer;
  readonly grids: ImportedGrids;
}

/** Returns a configuration of these layers, in the shape of the configuration file. */
export function importedDocument(
  layers: readonly ImportedLayer[],
  catalogue: WmsCatalogue,
  settings: ImportSettings,
): Readonly<Record<string, unknown>> {
  const gridSets = mergedGridSets(layers.map(({ grids }) => grids));
  return {
    ...(gridSets.length === 0 ? {} : { gridSets: gridSets.map(gridSetDocument) }),
    layers: layers.map(({ layer, grids }) => layerDocument(layer, grids, catalogue, settings)),
  };
}

const gridSetDocument = ({ id, srs, extent: { minX, minY, maxX, maxY }, metersPerUnit }: OwnGridSet) => ({
  id,
  srs,
  extent: [minX, minY, maxX, maxY],
  ...(metersPerUnit === undefined ? {} : { metersPerUnit }),
});

function layerDocument(
  layer: WmsCatalogueLayer,
  { gridSubsets }: ImportedGrids,
  { version, formats, maxWidth, maxHeight }: WmsCatalogue,
  { url, prefix = "", username, passwordVariable }: ImportSettings,
): Record<string, unknown> {
  const offered = FORMATS.filter((format) => formats.includes(format));
  const side = Math.floor(Math.min(maxWidth ?? Number.POSITIVE_INFINITY, maxHeight ?? Number.POSITIVE_INFINITY) / TILE);
  const filters = parameterFilters(layer);
  const legends = legendDocuments(layer);
  return {
    name: prefix + layer.name,
    title: layer.title,
    ...(layer.abstract === "" ? {} : { description: layer.abstract }),
    source: {
      type: "wms",
      url,
      version,
      layers: [layer.name],
      ...(username === undefined ? {} : { username }),
      ...(passwordVariable === undefined ? {} : { password: `\${${passwordVariable}}` }),
    },
    gridSubsets,
    formats: offered.length === 0 ? ["image/png"] : offered,
    ...(side >= METATILE ? {} : { metatile: [Math.max(1, side), Math.max(1, side)] }),
    ...(filters.length === 0 ? {} : { parameterFilters: filters }),
    ...(legends.length === 0 ? {} : { legends }),
    ...(layer.queryable ? { queryable: true } : {}),
  };
}

/**
 * Returns a parameter filter for the styles, if there are several, and one for each dimension. A dimension with a list
 * of values gets the list; one with intervals gets an expression of the characters that a value may have.
 */
function parameterFilters({ styles, dimensions }: WmsCatalogueLayer): readonly Record<string, unknown>[] {
  const named = styles.filter((style) => style !== "");
  return [
    ...(named.length > 1 ? [{ type: "string", key: "STYLES", default: "", values: named }] : []),
    ...dimensions.map(({ name, default: initial, values }) => {
      const key = name === "TIME" || name === "ELEVATION" || name.startsWith("DIM_") ? name : `DIM_${name}`;
      return values.some((value) => value.includes("/"))
        ? { type: "regex", key, default: initial, regex: "[0-9A-Za-z:.+/-]+" }
        : { type: "string", key, default: initial, values };
    }),
  ];
}

/** Returns the legends of the layer's named styles, and of the WMS's first style as the default. */
function legendDocuments({ styles, legends }: WmsCatalogueLayer): readonly Record<string, unknown>[] {
  const named = styles.filter((style) => style !== "");
  const [standard] = styles;
  const offered = named.length > 1 ? named : [];
  return [...(standard === undefined ? [] : [["", standard] as const]), ...offered.map((name) => [name, name] as const)]
    .map(([style, name]) => ({ style, legend: legends.get(name) }))
    .flatMap(({ style, legend }) =>
      legend === undefined
        ? []
        : [
            {
              ...(style === "" ? {} : { style }),
              width: legend.width,
              height: legend.height,
              format: legend.format,
              // A GetLegendGraphic needs no address: the server asks the WMS, whose own address may be private.
              ...(isLegendGraphic(legend.url) ? {} : { url: legend.url }),
            },
          ],
    );
}

function isLegendGraphic(url: string): boolean {
  const request = [...new URL(url).searchParams].find(([key]) => key.toLowerCase() === "request")?.[1] ?? "";
  return request.toLowerCase() === "getlegendgraphic";
}
