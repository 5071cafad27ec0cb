import { builtInGridSet } from "../../grid/built-in.ts";
import { createGridSet } from "../../grid/create-grid-set.ts";
import { corners } from "../../grid/extent.ts";
import type { GridSet } from "../../grid/grid-set.ts";
import { isDimension } from "../../layer/filter/parameter-filter.ts";
import type { Content } from "../../lib/is-map.ts";
import type { WmsCatalogue, WmsCatalogueLayer } from "../../source/wms/wms-catalogue.ts";
import { type GridSubsetDocument, type ImportedGrids, mergedGridSets, type OwnGridSet } from "./import-grids.ts";

/** The widest metatile that a layer gets by default, in tiles of 256 pixels. */
const METATILE = 4;
const TILE = 256;
/** Pixels that are rendered around each metatile and cut off, so that labels at its edges are complete. */
const GUTTER = 32;
/** The last level is the finest one with at least this scale denominator. Level 18 of web mercator has 2133. */
const LAST_SCALE_DENOMINATOR = 2000;
/** The most levels of a grid set around the layers, of which the last one to use is chosen. */
const MOST_LEVELS = 31;
/** Formats that browsers can show. An imported layer gets the formats in this list that the WMS offers. */
const FORMATS = ["image/png", "image/jpeg", "image/webp"];

/** The options for all imported layers. */
export interface ImportSettings {
  /** The address of the WMS. */
  readonly url: string;
  /** The prefix of all layer names. */
  readonly prefix?: string;
  readonly username?: string;
  readonly password?: string;
  /** The name of the environment variable with the password, in place of the password. */
  readonly passwordVariable?: string;
}

/** A layer of the WMS, and its grid sets. */
interface ImportedLayer {
  readonly layer: WmsCatalogueLayer;
  readonly grids: ImportedGrids;
}

/** A configuration, in the shape of its file. */
export interface ImportedDocument extends Content {
  readonly gridSets: readonly Content[] | undefined;
  readonly layers: readonly Content[];
}

/** Returns a configuration of these layers in the shape of the configuration file. YAML omits undefined keys. */
export function importedDocument(
  layers: readonly ImportedLayer[],
  catalogue: WmsCatalogue,
  settings: ImportSettings,
): ImportedDocument {
  const gridSets = mergedGridSets(layers.map(({ grids }) => grids));
  return {
    gridSets: listOrNone(gridSets.map(gridSetDocument)),
    layers: layers.map(({ layer, grids }) => {
      const gridSubsets = grids.gridSubsets.map((subset) => {
        const builtIn = gridSets.some(({ id }) => id === subset.gridSet) ? undefined : builtInGridSet(subset.gridSet);
        return builtIn === undefined ? subset : { ...subset, zoomStop: lastLevel(builtIn) };
      });
      return importedLayer(layer, gridSubsets, catalogue, settings);
    }),
  };
}

/** Returns a grid set around the layers in a CRS. It ends with the last level that a map usually needs. */
function gridSetDocument({ id, srs, extent, metersPerUnit }: OwnGridSet): Content {
  const made = createGridSet({
    id,
    srs: Number(srs.slice("EPSG:".length)),
    extent,
    scale: { levels: MOST_LEVELS },
    ...(metersPerUnit === undefined ? {} : { metersPerUnit }),
  });
  const levels = made.ok ? lastLevel(made.value) + 1 : undefined;
  return { id, srs, extent: corners(extent), levels, metersPerUnit };
}

/** Returns the last level that a map usually needs. With all levels, a seed by mistake would have billions of tiles. */
const lastLevel = ({ matrices }: GridSet): number =>
  Math.max(
    0,
    matrices.findLastIndex(({ scaleDenominator }) => scaleDenominator >= LAST_SCALE_DENOMINATOR),
  );

const listOrNone = <T>(list: readonly T[]): readonly T[] | undefined => (list.length === 0 ? undefined : list);

function importedLayer(
  layer: WmsCatalogueLayer,
  gridSubsets: readonly GridSubsetDocument[],
  { version, formats, maxWidth, maxHeight }: WmsCatalogue,
  { url, prefix = "", username, password, passwordVariable }: ImportSettings,
): Content {
  const offered = FORMATS.filter((format) => formats.includes(format));
  const limit = Math.min(maxWidth ?? Number.POSITIVE_INFINITY, maxHeight ?? Number.POSITIVE_INFINITY);
  // A WMS that renders only small pictures gets single tiles without a gutter.
  const gutter = limit < TILE + 2 * GUTTER ? undefined : GUTTER;
  const side = Math.floor((limit - 2 * (gutter ?? 0)) / TILE);
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
      password: passwordVariable === undefined ? password : `\${${passwordVariable}}`,
    },
    gridSubsets,
    formats: offered.length === 0 ? ["image/png"] : offered,
    metatile: side >= METATILE ? undefined : [Math.max(1, side), Math.max(1, side)],
    gutter,
    parameterFilters: listOrNone(parameterFilters(layer)),
    legends: listOrNone(legendDocuments(layer)),
    queryable: layer.queryable || undefined,
  };
}

/**
 * Returns a parameter filter for the styles, if there are several, and one for each dimension. A dimension with a list
 * of values gets the list. A dimension with intervals gets an expression for the characters of its values.
 */
function parameterFilters({ styles, dimensions }: WmsCatalogueLayer): readonly Record<string, unknown>[] {
  const named = styles.filter((style) => style !== "");
  return [
    ...(named.length > 1 ? [{ type: "string", key: "STYLES", default: "", values: named }] : []),
    ...dimensions.map(({ name, default: initial, values }) => {
      const key = isDimension(name) ? name : `DIM_${name}`;
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
    // A GetLegendGraphic address is omitted: the server requests the legend from the WMS, whose own address may be
    // private.
    return [{ style, width, height, format, url: isLegendGraphic(url) ? undefined : url }];
  });
}

function isLegendGraphic(url: string): boolean {
  const request = [...new URL(url).searchParams].find(([key]) => key.toLowerCase() === "request")?.[1] ?? "";
  return request.toLowerCase() === "getlegendgraphic";
}
