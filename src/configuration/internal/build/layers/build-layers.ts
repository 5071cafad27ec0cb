import { builtInGridSet, builtInGridSetIds } from "../../../../grid/built-in.ts";
import { extentOf } from "../../../../grid/extent.ts";
import {
  asGridSetName,
  asZoom,
  type Extent,
  extentsOverlap,
  type GridSet,
  type Zoom,
} from "../../../../grid/grid-set.ts";
import { gridSetHint } from "../../../../grid/grid-set-hint.ts";
import { atEveryZoom } from "../../../../layer/by-zoom.ts";
import { stylesFilter } from "../../../../layer/filter/parameter-filter.ts";
import type { RequestFilter } from "../../../../layer/filter/request-filter.ts";
import { formatNames, formatOf, type TileFormat } from "../../../../layer/format.ts";
import { type GridSubset, gridSubset } from "../../../../layer/grid-subset.ts";
import type { Layer } from "../../../../layer/layer.ts";
import { styleName } from "../../../../layer/legend.ts";
import { rendersData, rendersSingleTiles, type SourceOptions } from "../../../../layer/source-options.ts";
import { NOT_STORED } from "../../../../layer/stored-levels.ts";
import { asFormatName, asLayerName, type LayerName } from "../../../../layer/tile-set.ts";
import { defined } from "../../../../lib/defined.ts";
import { directoryName } from "../../../../store/file/file-layout.ts";
import { hasControlCharacter } from "../../../fields/fields.ts";
import type { GridSubsetDocument } from "../../../fields/layer-parts-schema.ts";
import type { LayerDocument } from "../../../fields/layer-schema.ts";
import type { Path, Problems } from "../../read/problems.ts";
import { warnOfEscapes } from "../addresses.ts";
import {
  type CacheReport,
  checkCacheGrids,
  type NamedCache,
  subsetsOfCache,
  withCacheBounds,
} from "../arcgis-caches.ts";
import { type archiveInspector, checkTileSize, tileGridSets, warnOfLevels, withBounds } from "../archives.ts";
import { buildSource, withoutFiles } from "../build-source.ts";
import { buildUpdateSources } from "../build-update-sources.ts";
import { checkGroups } from "./check-groups.ts";
import { checkTileLayer, checkTilesOnDisk, subsetPath } from "./check-tile-layer.ts";
import { withSharedParts } from "./shared-parts.ts";

export interface LayerContext {
  readonly gridSets: ReadonlyMap<string, GridSet>;
  /** The ids of all configured grid sets, including invalid ones, so that these are not also reported as unknown. */
  readonly declared: ReadonlySet<string>;
  /** Reads the archives of layers. Undefined to read no archive. */
  readonly inspectArchive: ReturnType<typeof archiveInspector> | undefined;
  /** The ArcGIS caches that are sources of layers. */
  readonly caches: ReadonlyMap<LayerDocument, NamedCache>;
  readonly problems: Problems;
  readonly warnings: string[];
}

/** The limit of most file systems in bytes. The truncation of a directory renames it to a short name. */
const MAX_DIRECTORY_BYTES = 255;
/** Names that the root of the store reserves. */
const RESERVED = ["_gwc_in_progress_deletes_", "_gwc_set_aside_", "tmp", "lost+found"];
const DEFAULT_GRID_SETS: readonly GridSubsetDocument[] = [{ gridSet: "EPSG:4326" }, { gridSet: "EPSG:900913" }];
const DEFAULT_FORMATS = ["image/png", "image/jpeg"];

/** Builds the layers in the order of the file. A document is undefined if it did not fit the schema. */
export async function buildLayers(
  documents: readonly (LayerDocument | undefined)[],
  context: LayerContext,
): Promise<readonly Layer[]> {
  const directories = new Map<string, string>();
  const built: { readonly i: number; readonly layer: Layer }[] = [];
  const byName = new Map<string, Layer>();
  // Groups come last, because their defaults follow from their layers.
  for (const isGroup of [false, true])
    for (const [i, document] of documents.entries()) {
      if (document === undefined || (document.source.type === "group") !== isGroup) continue;
      const whole = withSharedParts(document, byName);
      const layer = await buildOneLayer(whole, ["layers", i], directories, context);
      built.push({ i, layer });
      byName.set(layer.name, layer);
    }
  built.sort((a, b) => a.i - b.i);
  const layers = built.map(({ layer }) => layer);
  const paths = built.map(({ i }): Path => ["layers", i]);
  checkGroups(layers, paths, context.problems);
  return layers;
}

/** The names of layers by directory. */
export interface Directories {
  get(directory: string): string | undefined;
  set(directory: string, layer: LayerName): void;
}

/**
 * Builds one layer.
 * @param directories the directories of the other layers; the layer's own is added
 */
export function buildOneLayer(
  document: LayerDocument,
  path: Path,
  directories: Directories,
  context: LayerContext,
): Promise<Layer> {
  checkName(asLayerName(document.name), [...path, "name"], directories, context.problems);
  return buildLayer(document, path, context);
}

function checkName(name: LayerName, path: Path, directories: Directories, problems: Problems): void {
  const directory = directoryName(name);
  const other = directories.get(directory);
  if (name.trim() === "" || hasControlCharacter(name))
    problems.expected(path, "a name that is not blank and has no control character", name);
  else if (Buffer.byteLength(directory) > MAX_DIRECTORY_BYTES)
    problems.expected(path, `a name whose directory in the store has at most ${MAX_DIRECTORY_BYTES} bytes`, name);
  else if (/\.(json|xml)$/i.test(name))
    problems.expected(path, "a name that does not end in .json or .xml, as addresses end in these", name);
  else if (RESERVED.includes(directory) || name.split("/").some((part) => part === "." || part === ".."))
    problems.expected(path, `a name that is none of ${RESERVED.join(", ")} and has no part . or ..`, name);
  else if (other === name) problems.add(path, `two layers are called ${JSON.stringify(name)}`);
  else if (other !== undefined)
    problems.add(
      path,
      `${JSON.stringify(name)} and ${JSON.stringify(other)} would share the directory ${directory} of the store`,
    );
  else if (name.includes("/"))
    problems.warn(
      path,
      `${JSON.stringify(name)} has a slash: in addresses of tiles and layers it is written ${encodeURIComponent(name)}`,
    );
  directories.set(directory, name);
}

async function buildLayer(document: LayerDocument, path: Path, context: LayerContext): Promise<Layer> {
  const { source: given } = document;
  const name = asLayerName(document.name);
  const { problems, inspectArchive } = context;
  const isArchive = given.type === "mbtiles" || given.type === "pmtiles";
  const named = isArchive ? await inspectArchive?.(given, [...path, "source"]) : undefined;
  const ofCache = context.caches.get(document);
  const source =
    inspectArchive === undefined
      ? buildSource(withoutFiles(given), name, {}, [...path, "source"], problems)
      : buildSource(given, name, { archive: named, cache: ofCache }, [...path, "source"], problems);
  const archive = named?.report.ok === true ? named.report.value.facts : undefined;
  const cache = ofCache?.report.ok === true ? ofCache.report.value : undefined;
  const ofTiles = rendersSingleTiles(source);
  const usual = ofTiles ? tileGridSets(archive) : DEFAULT_GRID_SETS;
  let offered = document.gridSubsets ?? (cache === undefined ? usual : subsetsOfCache(cache));
  const known = (id: string): GridSet | undefined => gridSetOf(id, context);
  if (archive !== undefined) offered = withBounds(offered, archive, known);
  if (cache !== undefined) offered = withCacheBounds(offered, cache, known);
  const measured = { given: document.gridSubsets, file: [...path, "source", cache === undefined ? "file" : "path"] };
  const gridSubsets = buildSubsets(offered, measured, [...path, "gridSubsets"], name, context);
  checkTileLayer(document, source, gridSubsets, path, problems);
  if (cache !== undefined)
    checkCacheGrids(gridSubsets, cache, (gridSet) => subsetPath(document, gridSet, path), problems);
  checkTilesOnDisk(document, gridSubsets, path, problems);
  if (archive !== undefined)
    checkTileSize(gridSubsets, archive, (gridSet) => subsetPath(document, gridSet, path), problems);
  if (archive !== undefined) warnOfLevels(name, gridSubsets, archive, context.warnings);
  const { gridSubsets: _, formats: __, updateSources: feeds, title = name, metatile, legends, ...others } = document;
  const { requestFilters: filters, tilesOnDisk, ...plain } = others;
  const requestFilters = filters?.map((filter, i): RequestFilter => {
    if (filter.type === "circle") return filter;
    const levels = { zoomStart: asZoom(filter.zoomStart), zoomStop: asZoom(filter.zoomStop) };
    if (filter.type === "wms") return { ...filter, ...levels };
    const directory = problems.fileAt([...path, "requestFilters", i, "directory"], filter.directory);
    return { ...filter, ...levels, directory };
  });
  for (const key of ["legends", "metadataUrls", "updateSources"] as const)
    for (const [i, item] of (document[key] ?? []).entries())
      if ("url" in item) warnOfEscapes(item.url, [...path, key, i, "url"], problems);
  const styles = stylesFilter(document.parameterFilters);
  const formats = buildFormats(
    document.formats ?? formatsOfSource(archive?.format, cache),
    source,
    archive?.format,
    [...path, "formats"],
    problems,
  );
  const updateSources = buildUpdateSources(feeds, { gridSubsets, formats }, [...path, "updateSources"], problems);
  return {
    ...plain,
    name,
    title,
    source,
    gridSubsets,
    formats,
    ...defined({
      updateSources,
      requestFilters,
      tilesOnDisk: tilesOnDisk?.map(({ gridSet, format, ...tiles }) => ({
        ...tiles,
        gridSet: asGridSetName(gridSet),
        ...defined({ format: format === undefined ? undefined : asFormatName(format) }),
      })),
    }),
    ...defined({ attribution: document.attribution ?? archive?.attribution }),
    ...(archive?.vectorLayers === undefined ? {} : { vectorLayers: archive.vectorLayers }),
    // A group has no tiles of its own.
    ...(source.type === "group" ? { expireCacheSeconds: atEveryZoom(NOT_STORED) } : {}),
    metatile: metatile ?? (ofTiles ? [1, 1] : [4, 4]),
    legends: legends.map((legend) => ({ ...legend, style: styleName(legend.style, styles) ?? legend.style })),
  };
}

const CACHE_FORMATS = { png: ["image/png"], jpeg: ["image/jpeg"], mixed: ["image/jpeg", "image/png"] } as const;

/** Returns the formats of a layer that names no format. */
function formatsOfSource(only: TileFormat | undefined, cache: CacheReport | undefined): readonly string[] {
  if (cache !== undefined) return CACHE_FORMATS[cache.scheme.tileFormat];
  return only === undefined ? DEFAULT_FORMATS : [only.mimeType];
}

/** Returns a grid set by id. A configured grid set hides the built-in one with its id, even if it is invalid. */
const gridSetOf = (id: string, { gridSets, declared }: LayerContext): GridSet | undefined =>
  gridSets.get(id) ?? (declared.has(id) ? undefined : builtInGridSet(id));

/** The subsets of the configuration, and the path of the file that gives the extents of subsets without one. */
interface MeasuredSubsets {
  readonly given: readonly GridSubsetDocument[] | undefined;
  readonly file: Path;
}

function buildSubsets(
  documents: readonly GridSubsetDocument[],
  { given, file }: MeasuredSubsets,
  at: Path,
  layer: LayerName,
  context: LayerContext,
): readonly GridSubset[] {
  const directories = new Map<string, string>();
  return documents.flatMap((document, i) => {
    const id = document.gridSet;
    const other = directories.get(directoryName(id));
    if (other !== undefined) {
      const what = other === id ? `is already offered` : `would share a directory of the store with ${other}`;
      context.problems.add([...at, i, "gridSet"], `${JSON.stringify(id)} ${what}`);
    }
    directories.set(directoryName(id), id);
    const measuredBy = document.extent === undefined || given?.[i]?.extent !== undefined ? undefined : file;
    const built = buildSubset(document, measuredBy, [...at, i], layer, context);
    return built === undefined ? [] : [built];
  });
}

/** Builds a subset. `measuredBy` is the path of the file that gives the extent; undefined if the configuration does. */
function buildSubset(
  document: GridSubsetDocument,
  measuredBy: Path | undefined,
  path: Path,
  layer: LayerName,
  context: LayerContext,
): GridSubset | undefined {
  const { gridSets, declared, problems, warnings } = context;
  const gridSet = gridSetOf(document.gridSet, context);
  if (gridSet === undefined) {
    // Some grid sets are not known here, and any of them may have this id.
    if (declared.has(document.gridSet) || problems.hasSkipped(["gridSets"])) return undefined;
    problems.add([...path, "gridSet"], () => unknownGridSet(document.gridSet, gridSets));
    return undefined;
  }
  const { zoomStart, zoomStop, minCachedLevel, maxCachedLevel } = levelsOf(document);
  const last = asZoom(gridSet.matrices.length - 1);
  const areLevels = checkLevels({ zoomStart, zoomStop, last }, path, gridSet, problems);
  if (zoomStop !== undefined && zoomStop > last)
    warnings.push(`layer ${layer}: zoomStop ${zoomStop} is reduced to ${last}, the last level of ${gridSet.id}`);
  const extent = document.extent === undefined ? undefined : extentOf(document.extent);
  const extentPath = measuredBy ?? [...path, "extent"];
  const isExtent = extent === undefined || checkExtent(extent, extentPath, gridSet, problems);
  if (!areLevels || !isExtent) return undefined;
  if (extent !== undefined) {
    const corners = document.extent?.join(", ");
    const doubt = doubtfulExtent(extent, gridSet, zoomStop ?? last, measuredBy === undefined);
    if (doubt !== undefined)
      problems.warn(
        extentPath,
        `${measuredBy === undefined ? corners : `the extent in this file (${corners})`} ${doubt}`,
      );
  }
  return gridSubset(gridSet, defined({ zoomStart, zoomStop, extent, minCachedLevel, maxCachedLevel }));
}

/** Returns the levels of a subset as zooms. The caller checks whether the grid set has them. */
function levelsOf({ zoomStart = 0, zoomStop, minCachedLevel, maxCachedLevel }: GridSubsetDocument) {
  const zoom = (level: number | undefined): Zoom | undefined => (level === undefined ? undefined : asZoom(level));
  return {
    zoomStart: asZoom(zoomStart),
    zoomStop: zoom(zoomStop),
    minCachedLevel: zoom(minCachedLevel),
    maxCachedLevel: zoom(maxCachedLevel),
  };
}

/** Reports zooms of a subset that its grid set lacks. Returns whether the zooms are valid. */
function checkLevels(
  levels: { readonly zoomStart: Zoom; readonly zoomStop: Zoom | undefined; readonly last: number },
  path: Path,
  { id }: GridSet,
  problems: Problems,
): boolean {
  const { zoomStart, zoomStop, last } = levels;
  if (zoomStart > last) problems.expected([...path, "zoomStart"], `a level of ${id}, 0 to ${last}`, zoomStart);
  else if (zoomStop !== undefined && zoomStart > zoomStop)
    problems.expected([...path, "zoomStart"], `at most zoomStop (${zoomStop})`, zoomStart);
  else return true;
  return false;
}

/** Reports an extent that is empty or does not overlap its grid set. Returns whether the extent is valid. */
function checkExtent(extent: Extent, path: Path, gridSet: GridSet, problems: Problems): boolean {
  const { minX, minY, maxX, maxY } = extent;
  const given = [minX, minY, maxX, maxY].join(", ");
  if (!(minX < maxX && minY < maxY)) problems.add(path, `expected minx, miny, maxx, maxy with min < max, got ${given}`);
  else if (!extentsOverlap(extent, gridSet.extent)) {
    const whole = Object.values(gridSet.extent).join(", ");
    problems.add(path, `${given} does not overlap ${gridSet.id} (${whole}); it must be in the grid set's units`);
  } else return true;
  return false;
}

function unknownGridSet(id: string, own: ReadonlyMap<string, GridSet>): string {
  const all = [...Array.from(own.values(), ({ id }) => id), ...builtInGridSetIds];
  const listed = all.filter((known) => !known.startsWith("UTM"));
  const hint = gridSetHint(id, all, (one) => (own.get(one) ?? builtInGridSet(one))?.srs);
  const define = /^EPSG:\d+$/i.test(id) && !hint.endsWith("here");
  const more = define ? "; gridSets: defines own ones (docs/reference/layer-configuration.md#grid-sets)" : "";
  return `unknown grid set ${JSON.stringify(id)}${hint} (known: ${listed.join(", ")}, UTM01WGS84Quad to UTM60WGS84Quad and their x2)${more}`;
}

/**
 * Returns the probable mistake in an extent that overlaps its grid set. Undefined if the extent is plausible.
 * `isWritten` is true if a person wrote it, perhaps in other units.
 */
function doubtfulExtent(extent: Extent, gridSet: GridSet, zoomStop: Zoom, isWritten: boolean): string | undefined {
  const { minX, minY, maxX, maxY } = extent;
  const size = `${Number((maxX - minX).toPrecision(3))} x ${Number((maxY - minY).toPrecision(3))}`;
  const isInDegrees = minX >= -180 && maxX <= 180 && minY >= -90 && maxY <= 90;
  const { minX: left, maxX: right } = gridSet.extent;
  // In a grid set of a small site such coordinates may be metres.
  if (isWritten && isInDegrees && gridSet.metersPerUnit < 1000 && right - left > 100_000)
    return `is an area of ${size} units of ${gridSet.id} and looks like degrees: expected the units of EPSG:${gridSet.srs}`;
  const finest = gridSet.matrices[Math.min(zoomStop, gridSet.matrices.length - 1)]?.resolution ?? 0;
  if (maxX - minX >= finest && maxY - minY >= finest) return undefined;
  const expected = isWritten ? `: expected the units of ${gridSet.id}` : "";
  return `is an area of ${size} units of ${gridSet.id}, less than a pixel of the finest level (${finest})${expected}`;
}

function buildFormats(
  names: readonly string[],
  source: SourceOptions,
  only: TileFormat | undefined,
  at: Path,
  problems: Problems,
): readonly TileFormat[] {
  const formats: TileFormat[] = [];
  for (const [i, name] of names.entries()) {
    const format = formatOf(name);
    if (format === undefined) problems.expected([...at, i], `one of ${formatNames.join(", ")}`, name);
    else if (format.kind === "data" && !rendersData(source))
      problems.expected([...at, i], `a picture's, as a source of type ${source.type} renders nothing else`, name);
    else if (only !== undefined && format !== only)
      problems.expected([...at, i], `${only.mimeType}, as that is what the archive has`, name);
    else if (formats.includes(format)) problems.add([...at, i], `${format.mimeType} is given twice`);
    else formats.push(format);
  }
  return formats;
}
