import { corners } from "../../grid/grid-set-document.ts";
import type { WmsCatalogue, WmsCatalogueLayer } from "../../source/wms/wms-catalogue.ts";
import { type ImportedGrids, mergedGridSets } from "./import-grids.ts";

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

/** Returns a configuration of these layers, in the shape of the configuration file. YAML leaves out undefined keys. */
export function importedDocument(
  layers: readonly ImportedLayer[],
  catalogue: WmsCatalogue,
  settings: ImportSettings,
): Readonly<Record<string, unknown>> {
  const gridSets = mergedGridSets(layers.map(({ grids }) => grids));
  return {
    gridSets: listOrNone(
      gridSets.map(({ extent, metersPerUnit, ...grid }) => ({ ...grid, extent: corners(extent), metersPerUnit })),
    ),
    layers: layers.map(({ layer, grids }) => layerDocument(layer, grids, catalogue, settings)),
  };
}

const listOrNone = <T>(list: readonly T[]): readonly T[] | undefined => (list.length === 0 ? undefined : list);

function layerDocument(
  layer: WmsCatalogueLayer,
  { gridSubsets }: ImportedGrids,
  { version, formats, maxWidth, maxHeight }: WmsCatalogue,
  { url, prefix = "", username, passwordVariable }: ImportSettings,
): Readonly<Record<string, unknown>> {
  const offered = FORMATS.filter((format) => formats.includes(format));
  const side = Math.floor(Math.min(maxWidth ?? Number.POSITIVE_INFINITY, maxHeight ?? Number.POSITIVE_INFINITY) / TILE);
  return {
    name: prefix + layer.name,
    title: layer.title,
    description: layer.abstract || undefined,
    source: {
      type: "wms",
      url,
      version,
      layers: [layer.name],
      username,
      password: passwordVariable === undefined ? undefined : `\${${passwordVariable}}`,
    },
    gridSubsets,
    formats: offered.length === 0 ? ["image/png"] : offered,
    metatile: side >= METATILE ? undefined : [Math.max(1, side), Math.max(1, side)],
    parameterFilters: listOrNone(parameterFilters(layer)),
    legends: listOrNone(legendDocuments(layer)),
    queryable: layer.queryable || undefined,
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
  const [standard] = styles;
  const named = styles.filter((style) => style !== "");
  const offered = [[undefined, standard], ...(named.length > 1 ? named.map((name) => [name, name]) : [])];
  return offered.flatMap(([style, name]) => {
    const legend = name === undefined ? undefined : legends.get(name);
    if (legend === undefined) return [];
    const { width, height, format, url } = legend;
    // A GetLegendGraphic needs no address: the server asks the WMS, whose own address may be private.
    return [{ style, width, height, format, url: isLegendGraphic(url) ? undefined : url }];
  });
}

function isLegendGraphic(url: string): boolean {
  const request = [...new URL(url).searchParams].find(([key]) => key.toLowerCase() === "request")?.[1] ?? "";
  return request.toLowerCase() === "getlegendgraphic";
}
