import { sameSrs } from "../../grid/grid-set.ts";
import { PNG } from "../../layer/format.ts";
import type { Layer } from "../../layer/layer.ts";
import type { WmsSourceOptions } from "../../layer/source-options.ts";
import { didYouMean } from "../../lib/text/nearest.ts";
import type { WmsCatalogue, WmsCatalogueLayer } from "../../source/wms/wms-catalogue.ts";

const quoted = (text: string): string => JSON.stringify(text);
const fewOf = (names: readonly string[]): string =>
  names.length > 8 ? `${names.slice(0, 8).join(", ")} and ${names.length - 8} more` : names.join(", ");

/** Returns the differences between a layer and the capabilities of its WMS, each as a sentence with the remedy. */
export function wmsFindings(layer: Layer, source: WmsSourceOptions, wms: WmsCatalogue): readonly string[] {
  const offered = source.layers.map((name) => ({ name, found: wms.layers.find((one) => one.name === name) }));
  const names = wms.layers.map(({ name }) => name);
  return [
    ...offered
      .filter((one) => one.found === undefined)
      .map(
        ({ name }) =>
          `the WMS has no layer ${quoted(name)}${didYouMean(name, names)} (it has ${fewOf(names)}): correct source.layers`,
      ),
    ...offered.flatMap(({ found }, i) =>
      found === undefined ? [] : [...styleFindings(source.styles[i] ?? "", found), ...crsFindings(layer, found)],
    ),
    ...formatFindings(layer, wms),
    ...sizeFindings(layer, source, wms),
  ];
}

function styleFindings(style: string, { name, styles }: WmsCatalogueLayer): string[] {
  if (style === "" || styles.includes(style)) return [];
  const has = styles.length === 0 ? "it names none" : `it has ${fewOf(styles)}`;
  return [
    `the WMS has no style ${quoted(style)} of ${quoted(name)}${didYouMean(style, styles)} (${has}): correct source.styles`,
  ];
}

function crsFindings({ gridSubsets }: Layer, { name, crs }: WmsCatalogueLayer): string[] {
  const codes = [...crs].flatMap((one) => /^EPSG:(\d+)$/.exec(one)?.[1] ?? []).map(Number);
  return gridSubsets
    .filter(({ gridSet }) => !codes.some((code) => sameSrs(code, gridSet.srs)))
    .map(
      ({ gridSet }) =>
        `the WMS does not offer ${quoted(name)} in EPSG:${gridSet.srs} (it has ${fewOf([...crs])}): remove the grid set ${gridSet.id}, or add the CRS to the WMS`,
    );
}

function formatFindings({ formats, formatsTogether }: Layer, wms: WmsCatalogue): string[] {
  const plain = (type: string): string => type.toLowerCase().replaceAll(" ", "");
  const offered = wms.formats.map(plain);
  return formats.flatMap((format) => {
    const type = (formatsTogether && format.kind === "image" ? PNG : format).upstreamType;
    return offered.includes(plain(type))
      ? []
      : [`the WMS does not offer ${type} (it has ${fewOf(wms.formats)}): remove ${format.mimeType} from formats`];
  });
}

function sizeFindings(layer: Layer, source: WmsSourceOptions, wms: WmsCatalogue): string[] {
  const { metatile, gutter, gridSubsets } = layer;
  const { maxWidth = Number.POSITIVE_INFINITY, maxHeight = Number.POSITIVE_INFINITY, layerLimit } = wms;
  const tileWidth = Math.max(...gridSubsets.map(({ gridSet }) => gridSet.tileWidth));
  const tileHeight = Math.max(...gridSubsets.map(({ gridSet }) => gridSet.tileHeight));
  const width = metatile[0] * tileWidth + 2 * gutter;
  const height = metatile[1] * tileHeight + 2 * gutter;
  const sentences: string[] = [];
  if (width > maxWidth || height > maxHeight) {
    const across = Math.min(metatile[0], Math.floor((maxWidth - 2 * gutter) / tileWidth));
    const up = Math.min(metatile[1], Math.floor((maxHeight - 2 * gutter) / tileHeight));
    const remedy =
      across < 1 || up < 1 ? "a smaller gutter, or smaller tiles, are needed" : `metatile: [${across}, ${up}] fits`;
    const limit = [wms.maxWidth ?? "any", wms.maxHeight ?? "any"].join(" x ");
    sentences.push(
      `the WMS renders pictures of at most ${limit} pixels, and a metatile with its gutter has ${width} x ${height}: ${remedy}`,
    );
  }
  if (layerLimit !== undefined && source.layers.length > layerLimit)
    sentences.push(
      `the WMS takes at most ${layerLimit} layers in one request, and source.layers has ${source.layers.length}: use fewer`,
    );
  return sentences;
}
