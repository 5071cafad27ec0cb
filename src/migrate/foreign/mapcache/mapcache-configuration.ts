import { basename, dirname, resolve } from "node:path";
import { xmlContent } from "../../../configuration/gwc/codec/xml-content.ts";
import { defined } from "../../../lib/defined.ts";
import { fileFault } from "../../../lib/file/file-fault.ts";
import { readWholeFile } from "../../../lib/file/read-whole-file.ts";
import { type Content, isMap } from "../../../lib/is-map.ts";
import { MigrationError } from "../../migration-error.ts";
import type { ForeignConfiguration, ForeignLayer } from "../foreign-configuration.ts";
import { isWebMercator, withAskedCrs } from "../foreign-grid.ts";
import { ForeignObject, limitedMetatile } from "../foreign-object.ts";
import { Origins, placed } from "../origins.ts";
import { mapCacheGrid } from "./mapcache-grids.ts";
import { mapCacheTiles, type NamedGrid } from "./mapcache-tiles.ts";
import {
  dimensionFilters,
  type MapCacheSource,
  mapCacheFormat,
  mapCacheSource,
  mapCacheSourceFormat,
} from "./mapcache-tileset.ts";

/** The named objects of a file, by their element. */
const KINDS = ["grid", "source", "cache", "format", "tileset"] as const;
type Kind = (typeof KINDS)[number];
type Named = ReadonlyMap<string, ForeignObject>;

interface File {
  readonly objects: Readonly<Record<Kind, Named>>;
  /** All other elements of the root. */
  readonly settings: ForeignObject;
  readonly directory: string;
  readonly variables: Set<string>;
  /** Whether the WMS composes maps. */
  readonly fullWms: boolean;
  /** The used grid sets that are not built in, by id. */
  readonly gridSets: Map<string, Content>;
}

/** Translates a MapCache configuration. @throws MigrationError if it cannot be read */
export async function mapCacheConfiguration(path: string): Promise<ForeignConfiguration> {
  const file = await readMapCache(path);
  const { objects, settings, gridSets, variables } = file;
  const leftOut: string[] = [];
  const layers: ForeignLayer[] = [];
  for (const [name, tileset] of objects.tileset) {
    const made = layerOf(name, tileset, file, leftOut);
    const line = placed(tileset.where());
    const fault = [tileset, ...usedObjects(tileset, objects)].flatMap(({ faults }) => faults)[0];
    if (typeof made === "string") leftOut.push(`the tileset ${name}: ${made}${line}`);
    else if (fault !== undefined) leftOut.push(`the tileset ${name}: ${fault}`);
    else layers.push(made);
  }
  const serviceInformation = informationOf(settings);
  return {
    gridSets: [...gridSets.values()],
    layers,
    serviceInformation,
    reports: [settings, ...KINDS.flatMap((kind) => [...objects[kind].values()])].flatMap((one) => one.report()),
    variables: [...variables],
    leftOut,
    warnings: [],
  };
}

const usedObjects = (tileset: ForeignObject, objects: File["objects"]): readonly ForeignObject[] =>
  (["source", "cache", "format"] as const).flatMap((kind) => objects[kind].get(String(tileset.look(kind))) ?? []);

async function readMapCache(path: string): Promise<File> {
  const bytes = await readWholeFile(path).catch((error: unknown) => {
    throw new MigrationError(`${path} cannot be read: ${fileFault(error)}`, "unreadable");
  });
  const origins = new Origins();
  const read = xmlContent(bytes, (container, lines) =>
    origins.set(container, new Map([...lines].map(([key, line]) => [key, `${basename(path)}:${line}`]))),
  );
  if (!read.ok) throw new MigrationError(`${path} is no XML: ${read.error}`, "invalid");
  const { root, content } = read.value;
  if (root !== "mapcache" || !isMap(content))
    throw new MigrationError(
      `${path} is no configuration of MapCache: expected the root mapcache, got ${root}`,
      "invalid",
    );
  const rest = Object.fromEntries(Object.entries(content).filter(([key]) => !KINDS.some((kind) => kind === key)));
  origins.copy(rest, content);
  const settings = new ForeignObject("settings", rest, { origins, origin: undefined });
  const named = (kind: Kind): Named => objectsOf(kind, content, origins);
  return {
    objects: {
      grid: named("grid"),
      source: named("source"),
      cache: named("cache"),
      format: named("format"),
      tileset: named("tileset"),
    },
    settings,
    directory: dirname(resolve(path)),
    variables: new Set(),
    fullWms: composesMaps(settings),
    gridSets: new Map(),
  };
}

const listOf = (value: unknown): readonly unknown[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];

function objectsOf(kind: Kind, content: Content, origins: Origins): Named {
  return new Map(
    listOf(content[kind]).flatMap((item, i, list): [string, ForeignObject][] => {
      if (!isMap(item)) return [];
      const { "@name": name = "", ...own } = item;
      origins.copy(own, item);
      const origin = list === content[kind] ? origins.at(list, [String(i)]) : origins.at(content, [kind]);
      return [[String(name), new ForeignObject(`${kind} ${String(name)}`, own, { origins, origin })]];
    }),
  );
}

function composesMaps(settings: ForeignObject): boolean {
  settings.differently("service", "WMTS, WMS, TMS, XYZ and KML are always on");
  return listOf(settings.look("service")).some(
    (service) => isMap(service) && service["@type"] === "wms" && service["full_wms"] === "assemble",
  );
}

/** Returns a layer for the configuration file, or why it cannot be made. */
function layerOf(name: string, tileset: ForeignObject, file: File, leftOut: string[]): ForeignLayer | string {
  const { objects, settings, directory, variables, fullWms } = file;
  const grids = gridsOf(tileset, file);
  if (grids.length === 0) return "it has no grid that can be served";
  settings.kept("default_format", "MapCache uses it for errors and composed maps alone");
  const isReadOnly = tileset.flag("read-only") === true;
  const sourceName = tileset.text("source");
  const own = sourceName === undefined ? undefined : objects.source.get(sourceName);
  const translated = own === undefined ? undefined : mapCacheSource(own, sourceName ?? "", variables);
  const formatName = tileset.text("format");
  const format =
    formatName === undefined
      ? mapCacheSourceFormat(translated?.ok === true ? translated.value.format : "")
      : mapCacheFormat(formatName, objects.format.get(formatName));
  if (format === undefined) return `its format ${formatName} has no equivalent`;
  const filters = dimensionFilters(tileset, leftOut);
  const cacheName = tileset.text("cache") ?? "";
  const cache = objects.cache.get(cacheName);
  const type = cache?.text("@type");
  if (cache !== undefined && type !== "disk" && type !== "mbtiles")
    cache.kept("@type", `tiles in ${type} are not read: they are rendered again`);
  const tiles =
    cache === undefined || type !== "disk" || filters.length > 0
      ? []
      : mapCacheTiles(
          cache,
          grids.map(({ named: one }) => one),
          { tileset: name, ...format, directory },
        );
  const dbfile = type === "mbtiles" ? cache?.text("dbfile") : undefined;
  const archive = dbfile === undefined ? undefined : resolve(directory, dbfile);
  const source = isReadOnly ? undefined : translated;
  const hasTiles = tiles.length > 0 || archive !== undefined;
  if (source?.ok === false && !hasTiles) return source.error;
  if (source === undefined && !hasTiles) return "it has neither a source nor tiles that can be read";
  if (source?.ok === true && archive !== undefined)
    cache?.kept("dbfile", `once the server runs, \`nuthatch import ${archive} ${name}\` stores its tiles`);
  const none = archive === undefined ? { type: "none" } : { type: "mbtiles", file: archive };
  return {
    origin: tileset.where(),
    from: [tileset.title, ...(own === undefined ? [] : [own.title]), ...(cache === undefined ? [] : [cache.title])],
    content: defined({
      name,
      title: tileset.text("metadata.title"),
      description: tileset.text("metadata.abstract"),
      keywords: tileset.texts("metadata.keyword"),
      source: source?.ok === true ? askedSource(source.value, grids) : none,
      tilesOnDisk: tiles.length === 0 ? undefined : tiles,
      gridSubsets: grids.map(({ subset }) => subset),
      formats: [format.mimeType],
      jpegQuality: format.quality,
      ...rendering(tileset, source?.ok === true),
      expireCacheSeconds: tileset.number("auto_expire"),
      expireClientSeconds: tileset.number("expires") ?? 0,
      parameterFilters: filters.length === 0 ? undefined : filters,
      queryable: source?.ok === true && source.value.queryable ? true : undefined,
      fullWms: fullWms ? true : undefined,
    }),
  };
}

/** Returns a source with the CRS names that MapCache uses in requests. */
const askedSource = ({ content, srs }: MapCacheSource, grids: ReturnType<typeof gridsOf>): Content =>
  withAskedCrs(
    content,
    grids.map(({ named: { grid } }) => grid),
    ({ srsName }) => (srs !== undefined && isWebMercator(srs) ? srs : srsName),
  );

function rendering(tileset: ForeignObject, hasMetatiles: boolean): Content {
  const [across = 1, up = 1] = tileset.numbers("metatile") ?? [];
  const gutter = tileset.number("metabuffer");
  if (!hasMetatiles) return {};
  const metatile = limitedMetatile(tileset, "metatile", [across, up]);
  return { metatile, ...(gutter === undefined ? {} : { gutter: Math.min(256, gutter) }) };
}

function gridsOf(
  tileset: ForeignObject,
  { objects, gridSets }: File,
): readonly { readonly named: NamedGrid; readonly subset: Content }[] {
  const given = listOf(tileset.value("grid"));
  const made: { readonly named: NamedGrid; readonly subset: Content }[] = [];
  const remarks: string[] = [];
  for (const item of given) {
    const link = new ForeignObject("", isMap(item) ? item : { "#": item });
    const name = link.text("#") ?? "";
    const grid = mapCacheGrid(name, objects.grid.get(name));
    if (!grid.ok) {
      remarks.push(`without ${name}: ${grid.error}`);
      continue;
    }
    const { id, content, resolutions } = grid.value;
    if (made.some(({ subset }) => subset["gridSet"] === id)) {
      remarks.push(`two of them are ${id}`);
      continue;
    }
    if (content !== undefined) gridSets.set(id, content);
    const maxZoom = link.number("@maxzoom");
    const cached = link.number("@max-cached-zoom");
    if (cached !== undefined)
      tileset.differently("grid.@max-cached-zoom", "tiles above this level are rendered for each request");
    tileset.kept("grid.@use_wms_intermediate_resolutions", "maps are composed of the levels that there are");
    made.push({
      named: { name, grid: grid.value },
      subset: defined({
        gridSet: id,
        extent: link.numbers("@restricted_extent"),
        zoomStart: link.number("@minzoom"),
        zoomStop: maxZoom ?? (content === undefined ? resolutions.length - 1 : undefined),
        maxCachedLevel: cached,
      }),
    });
  }
  if (remarks.length > 0) tileset.differently("grid", remarks.join("; "));
  return made;
}

function informationOf(settings: ForeignObject): Content | undefined {
  const content = defined({
    title: settings.text("metadata.title"),
    description: settings.text("metadata.abstract"),
    keywords: settings.texts("metadata.keyword"),
    fees: settings.text("metadata.fees"),
    accessConstraints: settings.text("metadata.accessconstraints"),
    serviceProvider:
      settings.look("metadata.url") === undefined ? undefined : { providerSite: settings.text("metadata.url") },
  });
  return Object.keys(content).length === 0 ? undefined : content;
}
