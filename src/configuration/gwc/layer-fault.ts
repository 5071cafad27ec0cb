import { formatNames, formatOf } from "../../layer/format.ts";
import { isKml, KML_FORMATS, WMS_LAYER } from "../fields/elements/layer-elements.ts";
import { rulesIn } from "../fields/elements/layer-parts-elements.ts";
import {
  type DocumentNode,
  fieldOf,
  isMapNode,
  itemsOf,
  type MapNode,
  mapOf,
  numberOf,
  type RootedDocument,
  textOf,
} from "./document-node.ts";

/** Layers that a file may have, because GeoWebCache starts with them, and that a request may not make. */

/** Returns the formats of a layer that Nuthatch lacks and therefore leaves out. */
export function formatsLeftOut({ root, node }: RootedDocument): readonly string[] {
  if (root === "arcgisLayer") return [];
  const unknown = itemsOf(node, "mimeFormats")
    .map(String)
    .filter((format) => formatOf(format) === undefined && !isKml(format));
  const isOffered =
    unknown.length > 0 && itemsOf(node, "mimeFormats").some((format) => formatOf(String(format)) !== undefined);
  return isOffered ? unknown : [];
}

/**
 * Returns the first mistake in the zooms of each list of expiry rules, as the path of the rule and a sentence: the
 * first rule does not begin at 0, or a rule does not begin above the previous one.
 */
function oddExpiryRules(node: MapNode): readonly (readonly [path: string, sentence: string])[] {
  return ["expireCache", "expireClients"].flatMap((name) => {
    const levels = rulesIn(fieldOf(node, `${name}List`)).map(({ minZoom }) => minZoom);
    const at = levels.findIndex((level, i) => (i === 0 ? level !== 0 : level <= (levels[i - 1] ?? 0)));
    if (at < 0) return [];
    const expected =
      at === 0 ? "0, as the first rule holds from there on" : `more than ${levels[at - 1]}, as of the rule before`;
    return [[`${name}List[${at}].@minZoom`, `expected ${expected}, got ${levels[at]}`]];
  });
}

/** Returns warnings about the expiry rules of a layer of a file. The rules are applied as GeoWebCache applies them. */
export const expiryWarnings = ({ node }: RootedDocument): readonly string[] =>
  oddExpiryRules(node).map(
    ([path, sentence]) =>
      `${path}: ${sentence}: as in GeoWebCache the first rule holds from level 0, and each other one after those before it`,
  );

/** Elements that allow only certain words in a request. */
const WORDS = Object.entries(WMS_LAYER).flatMap(([name, { words }]) =>
  words === undefined ? [] : [[name, words] as const],
);

/** The numbers of tiles of a metatile: across and up. */
const METATILE_NUMBERS = 2;

/**
 * Returns why a layer is refused that a file may have but a request may not make. Undefined if it is accepted. For
 * example, a file may have a default that is not one of the values, because GeoWebCache's files do.
 */
export function layerFault(document: RootedDocument): string | undefined {
  const { node } = document;
  const [format] = formatsLeftOut(document);
  if (format !== undefined) {
    const index = itemsOf(node, "mimeFormats").map(String).indexOf(format);
    return `mimeFormats[${index}]: expected one of ${[...formatNames, ...KML_FORMATS].join(", ")}, got ${JSON.stringify(format)}`;
  }
  for (const [name, words] of WORDS) {
    const given = textOf(node, name);
    if (given !== undefined && !words.includes(given))
      return `${name}: expected ${words.join(" or ")}, got ${JSON.stringify(given)}`;
  }
  for (const [path, sentence] of oddExpiryRules(node)) return `${path}: ${sentence}`;
  const tiles = itemsOf(node, "metaWidthHeight").length;
  if (tiles > 0 && tiles !== METATILE_NUMBERS)
    return `metaWidthHeight: expected ${METATILE_NUMBERS} whole numbers, got ${tiles}`;
  const offered = itemsOf(node, "gridSubsets").map((item) =>
    isMapNode(item) ? textOf(item, "gridSetName") : undefined,
  );
  const again = offered.findIndex((name, i) => name !== undefined && offered.indexOf(name) < i);
  if (again >= 0) return `gridSubsets[${again}].gridSetName: ${JSON.stringify(offered[again])} is already offered`;
  for (const [i, filter] of itemsOf(node, "parameterFilters").entries()) {
    const fault = isMapNode(filter) ? parameterFilterFault(filter) : undefined;
    if (fault !== undefined) return `parameterFilters[${i}].${fault}`;
  }
  for (const name of ["defaultWidth", "defaultHeight"]) {
    const given = mapOf(node, "legends")?.attributes[name];
    if (given !== undefined && !/^-?\d{1,9}$/.test(given))
      return `legends.@${name}: expected a whole number, got ${JSON.stringify(given)}`;
  }
  return requestFilterFault(fieldOf(node, "requestFilters")) ?? updateSourceFault(node);
}

/** Returns why a parameter filter is refused. Undefined if it is accepted. */
function parameterFilterFault(filter: MapNode): string | undefined {
  const values = itemsOf(filter, "values");
  const standard = textOf(filter, "defaultValue") ?? "";
  const isValue = (value: DocumentNode): boolean =>
    typeof value === "string" ? value === standard : numberOf(value) === Number(standard);
  return fieldOf(filter, "threshold") !== undefined || values.length === 0 || standard === "" || values.some(isValue)
    ? undefined
    : `defaultValue: expected one of its values, got ${JSON.stringify(standard)}`;
}

/**
 * Returns why request filters are refused that a file may have but a request may not make. Undefined if they are
 * accepted.
 */
function requestFilterFault(filters: DocumentNode | undefined): string | undefined {
  if (typeof filters !== "object" || filters.kind !== "list") return undefined;
  for (const [i, [kind, filter]] of filters.items.entries())
    if (isMapNode(filter) && kind !== "circularExtentFilter" && fieldOf(filter, "zoomStop") === undefined)
      return `requestFilters[${i}].zoomStop: expected the last level with a raster`;
  return undefined;
}

/** Returns why feeds are refused that a file may have but a request may not make. Undefined if they are accepted. */
function updateSourceFault(node: MapNode): string | undefined {
  for (const [i, item] of itemsOf(node, "updateSources").entries()) {
    if (!isMapNode(item)) continue;
    const interval = textOf(item, "pollInterval") ?? "-1";
    if (!/^-1$|^\d{1,9}$/.test(interval))
      return `updateSources[${i}].pollInterval: expected seconds, or -1, got ${JSON.stringify(interval)}`;
    const operation = textOf(item, "operation") ?? "truncate";
    if (!/^(?:truncate|seed|reseed)$/i.test(operation))
      return `updateSources[${i}].operation: expected truncate, seed or reseed, got ${JSON.stringify(operation)}`;
  }
  return undefined;
}
