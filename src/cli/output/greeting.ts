import type { Configuration } from "../../configuration/configuration.ts";
import { mayDo } from "../../http/auth/rights.ts";
import type { GridSubset } from "../../layer/grid-subset.ts";
import type { Layer } from "../../layer/layer.ts";
import { type Tile, tileInside } from "../../layer/picture/example-tile.ts";
import { escapeXml } from "../../lib/text/escape.ts";

/** The grid set of the short tile addresses and of the console's map. */
const WEB_MERCATOR = "EPSG:900913";
const MOST_LISTED = 20;
/** The number of further levels that the example seeds: a few hundred tiles at most. */
const MORE_LEVELS = 4;

/** Encodes a path segment. Keeps a colon, which is permitted there and easier to read. */
const segment = (text: string | number): string => encodeURIComponent(text).replaceAll("%3A", ":");
const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * Returns the text that the program prints when the server listens: the address, the layers, and two commands to try.
 */
export function greetingText(address: string, configuration: Configuration): string {
  const { layers, file } = configuration;
  const names = layers.slice(0, MOST_LISTED).map(({ name }) => (/[\s,"]/.test(name) ? JSON.stringify(name) : name));
  const more = layers.length > names.length ? ", …" : "";
  const isWebMap = ({ gridSubsets }: Layer): boolean => gridSubsets.some(({ gridSet }) => gridSet.id === WEB_MERCATOR);
  const layer = layers.find(isWebMap) ?? layers[0];
  return [
    `Nuthatch is listening on ${address}`,
    ...(layer === undefined
      ? ["There are no layers. nuthatch import wms URL -o nuthatch.yaml writes the layers of a WMS as a configuration."]
      : [
          `${file === undefined ? "Demo layers" : "Layers"}: ${names.join(", ")}${more}`,
          ...commands(address.replace(/\/$/, ""), layer, configuration),
        ]),
    "",
  ].join("\n");
}

/** Returns commands that fetch a tile inside the coverage of a layer and seed its first levels. */
function commands(base: string, layer: Layer, { users }: Configuration): readonly string[] {
  const { gridSubsets, formats, name, secured } = layer;
  const subset = gridSubsets.find(({ gridSet }) => gridSet.id === WEB_MERCATOR) ?? gridSubsets[0];
  const tile = subset && tileInside(subset);
  const extension = formats[0]?.extension;
  if (subset === undefined || tile === undefined || extension === undefined) return [];
  // curl asks for the password of the user.
  const user = users.find((one) => mayDo(one, "operate")) ?? users[0];
  const asUser = user === undefined ? "" : `-u ${shellQuoted(user.name)} `;
  const url = `${base}/xyz/${pathOf(layer, subset, tile)}.${extension}`;
  return [
    "Try:",
    `  curl ${secured ? asUser : ""}-o tile.${extension} ${shellQuoted(url)}`,
    `  curl ${asUser}-XPOST -H 'Content-type: text/xml' -d ${shellQuoted(seedRequest(name, subset))} ${shellQuoted(`${base}/rest/seed/${segment(name)}.xml`)}`,
  ];
}

function pathOf({ name }: Layer, { gridSet }: GridSubset, { z, x, rowFromTop }: Tile): string {
  const grid = gridSet.id === WEB_MERCATOR ? [] : [gridSet.id];
  return [name, ...grid, z, x, rowFromTop].map(segment).join("/");
}

function seedRequest(name: string, { gridSet, zoomStart, zoomStop }: GridSubset): string {
  const last = Math.min(zoomStop, zoomStart + MORE_LEVELS);
  return `<seedRequest><name>${escapeXml(name)}</name><gridSetId>${escapeXml(gridSet.id)}</gridSetId><zoomStart>${zoomStart}</zoomStart><zoomStop>${last}</zoomStop><type>seed</type><threadCount>2</threadCount></seedRequest>`;
}
