import { join, resolve } from "node:path";
import { corners } from "../../../grid/extent.ts";
import { canonicalSrs, type Extent, extentsOverlap } from "../../../grid/grid-set.ts";
import { DISK_LAYOUTS } from "../../../layer/tiles-on-disk.ts";
import { defined } from "../../../lib/defined.ts";
import type { Content } from "../../../lib/is-map.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { type ForeignGrid, withAskedCrs } from "../foreign-grid.ts";
import { type ForeignObject, limitedMetatile } from "../foreign-object.ts";
import { coverageIn, hasArea, srsCode } from "./mapproxy-grids.ts";
import { joinedSources, type MapProxySources, type SourceContext, type TranslatedSource } from "./mapproxy-sources.ts";

/** A MapProxy cache, translated to keys of a Nuthatch layer. */
export interface TranslatedCache {
  readonly content: Content;
  readonly from: readonly string[];
  readonly queryable: boolean;
  readonly hasLegend: boolean;
}

/** A grid of a cache that can be served, and the source's area in it. The area is undefined if it is the whole grid. */
interface UsedGrid {
  readonly grid: ForeignGrid;
  readonly extent: Extent | undefined;
}

const NO_AREA = "the coverage of the source has no area in it";

/** Returns the area of a source in a grid, or why the grid cannot be served. */
function areaIn(
  grid: ForeignGrid,
  { serves, coverage }: TranslatedSource,
): Result<{ readonly extent?: Extent; readonly remark?: string }, string> {
  if (!serves(grid)) return refuse("the source does not render in it");
  if (coverage === undefined) return ok({});
  const { box, srs } = coverage;
  if (!hasArea(box)) return refuse(NO_AREA);
  const area = coverageIn(box, srs, grid.srs);
  if (!area.ok) return ok({ remark: `all of ${grid.id}, as of the coverage ${area.error}` });
  return hasArea(area.value) && extentsOverlap(area.value, grid.extent) ? ok({ extent: area.value }) : refuse(NO_AREA);
}

const HOUR = 3600;
const UNITS: Readonly<Record<string, number>> = {
  seconds: 1,
  minutes: 60,
  hours: HOUR,
  days: 24 * HOUR,
  weeks: 168 * HOUR,
};
const MOST_GUTTER = 256;
/** MapProxy's defaults. */
const META_SIZE = [4, 4];
const META_BUFFER = 80;
const JPEG_QUALITY = 90;
const EXPIRES_HOURS = 72;

/** The caches of a MapProxy configuration. */
export class MapProxyCaches {
  readonly #objects: ReadonlyMap<string, ForeignObject>;
  readonly #sources: MapProxySources;
  readonly #context: SourceContext;

  constructor(caches: ReadonlyMap<string, ForeignObject>, sources: MapProxySources, context: SourceContext) {
    this.#sources = sources;
    this.#context = context;
    this.#objects = caches;
  }

  get objects(): readonly ForeignObject[] {
    return [...this.#objects.values()];
  }

  has(name: string): boolean {
    return this.#objects.has(name);
  }

  /** Returns the part of a layer that its cache determines, or why the layer cannot be made. */
  translate(name: string, hasDimensions: boolean): Result<TranslatedCache, string> {
    const cache = this.#objects.get(name);
    if (cache === undefined) return refuse(`there is no cache ${name}`);
    const grids: ForeignGrid[] = [];
    const remarks: string[] = [];
    for (const gridName of cache.texts("grids") ?? ["GLOBAL_MERCATOR"]) {
      const grid = this.#context.grids.grid(gridName);
      if (grid.ok) grids.push(grid.value);
      else remarks.push(`without ${gridName}: ${grid.error}`);
    }
    const format = this.#format(cache);
    const source = this.#sourceOf(cache, name, format.request, []);
    const tiles = hasDimensions ? [] : this.#tilesOnDisk(cache, name, grids, format);
    if (hasDimensions) cache.kept("cache.directory", "the tiles of layers with dimensions are rendered again");
    const archive = this.#archive(cache, name);
    if (!source.ok && tiles.length === 0 && archive === undefined) return source;
    if (!source.ok) cache.kept("sources", `${source.error}; the layer has the stored tiles alone`);
    const usedGrids: UsedGrid[] = [];
    for (const grid of grids) {
      const area: ReturnType<typeof areaIn> = source.ok ? areaIn(grid, source.value) : ok({});
      if (!area.ok) remarks.push(`without ${grid.id}: ${area.error}`);
      else {
        usedGrids.push({ grid, extent: area.value.extent });
        if (area.value.remark !== undefined) remarks.push(area.value.remark);
      }
    }
    const used = usedGrids.map(({ grid }) => grid);
    if (remarks.length > 0) cache.differently("grids", remarks.join("; "));
    if (used.length === 0) return refuse([`no grid of the cache ${name} can be served`, ...remarks].join("; "));
    if (source.ok && archive !== undefined)
      cache.kept("cache.type", `once the server runs, \`nuthatch import ${archive} LAYER\` stores its tiles`);
    const content = source.ok
      ? this.#asked(source.value, used)
      : archive === undefined
        ? { type: "none" }
        : { type: "mbtiles", file: archive };
    return ok({
      content: defined({
        source: content,
        tilesOnDisk:
          tiles.length === 0 ? undefined : tiles.filter(({ gridSet }) => used.some(({ id }) => id === gridSet)),
        gridSubsets: this.#subsets(cache, usedGrids),
        formats: [format.mimeType],
        ...this.#rendering(cache, format.mimeType, content["type"] === "wms" || content["type"] === "arcgis"),
        expireCacheSeconds: this.#expiry(cache),
        expireClientSeconds: Math.round((this.#context.globals.number("tiles.expires_hours") ?? EXPIRES_HOURS) * HOUR),
      }),
      from: [cache.title, ...(source.ok ? source.value.from : [])],
      queryable: source.ok && source.value.queryable,
      hasLegend: source.ok && source.value.hasLegend,
    });
  }

  #sourceOf(
    cache: ForeignObject,
    name: string,
    format: string,
    asked: readonly string[],
  ): Result<TranslatedSource, string> {
    const names = cache.texts("sources");
    if (names === undefined) return refuse(`the cache ${name} merges bands of sources`);
    if (names.length === 0) return refuse(`the cache ${name} has no source`);
    const translated: TranslatedSource[] = [];
    for (const one of names) {
      const below = this.#sources.has(one) ? undefined : this.#objects.get(one);
      if (below !== undefined && asked.includes(one)) return refuse(`the cache ${one} is its own source`);
      const source =
        below === undefined
          ? this.#sources.translate(one, format)
          : this.#sourceOf(below, one, format, [...asked, one]);
      if (!source.ok) return source;
      if (below !== undefined) cache.differently("sources", `the sources of the cache ${one} are requested directly`);
      translated.push(source.value);
    }
    const joined = joinedSources(translated);
    if (joined === undefined)
      return refuse(`the sources ${names.join(", ")} of the cache ${name} are drawn over each other`);
    if (names.length > 1) cache.differently("sources", "one request asks for the layers of all sources");
    return ok(joined);
  }

  /** Returns the format of the tiles, the extension of their files, and the requested format. */
  #format(cache: ForeignObject): { readonly mimeType: string; readonly extension: string; readonly request: string } {
    const given = cache.text("format") ?? "image/png";
    const { globals } = this.#context;
    const named = globals.text(["image", "formats", given, "format"]) ?? given;
    const plain = (named.split(";")[0] ?? named).trim();
    const extension = plain.slice(plain.indexOf("/") + 1);
    const mimeType =
      plain === "mixed" ? "image/vnd.jpeg-png" : extension === "jpg" ? "image/jpeg" : `image/${extension}`;
    const request = cache.text("request_format") ?? mimeType;
    if (cache.look("request_format") !== undefined && request !== mimeType)
      cache.differently(
        "request_format",
        "the upstream is asked for PNG where the format needs it, else for the format",
      );
    return { mimeType, extension, request };
  }

  #tilesOnDisk(
    cache: ForeignObject,
    name: string,
    grids: readonly ForeignGrid[],
    { mimeType, extension }: { readonly mimeType: string; readonly extension: string },
  ) {
    const type = cache.text("cache.type") ?? "file";
    if (type !== "file") {
      if (type !== "mbtiles") cache.kept("cache.type", `tiles in ${type} are not read: they are rendered again`);
      return [];
    }
    if (cache.flag("disable_storage") === true) return [];
    const { directory, globals } = this.#context;
    const own = cache.text("cache.directory");
    const base = resolve(directory, own ?? cache.text("cache_dir") ?? globals.text("cache.base_dir") ?? "./cache_data");
    const layout = cache.text("cache.directory_layout") ?? "tc";
    const known = DISK_LAYOUTS.find((one) => one === layout);
    if (known === undefined) {
      cache.kept("cache.directory_layout", "the layout is not known");
      return [];
    }
    const usesNames = cache.flag("cache.use_grid_names") === true;
    return grids.map((grid) => ({
      gridSet: grid.id,
      format: mimeType,
      path:
        own !== undefined
          ? base
          : usesNames
            ? join(base, name, grid.name)
            : join(base, `${name}_${grid.srsName.replaceAll(":", "")}`),
      layout: known,
      ...(grid.rows === "top" ? { rows: "top" } : {}),
      extension,
    }));
  }

  /** Returns the MBTiles file of a cache. */
  #archive(cache: ForeignObject, name: string): string | undefined {
    if (cache.look("cache.type") !== "mbtiles") return undefined;
    const file = cache.text("cache.filename") ?? `${name}.mbtiles`;
    const { directory, globals } = this.#context;
    if (file.startsWith("./")) return resolve(directory, file);
    const base = cache.text("cache_dir") ?? globals.text("cache.base_dir") ?? "./cache_data";
    return resolve(directory, base, file);
  }

  /** Returns a source with the CRS names that MapProxy uses in requests. */
  #asked({ content, supportedSrs }: TranslatedSource, grids: readonly ForeignGrid[]): Content {
    if (content["type"] !== "wms") return content;
    return withAskedCrs(content, grids, ({ srs, srsName }) => {
      const own = supportedSrs?.find((name) => canonicalSrs(srsCode(name) ?? 0) === canonicalSrs(srs));
      return own ?? srsName;
    });
  }

  #subsets(cache: ForeignObject, grids: readonly UsedGrid[]): readonly Content[] {
    const direct = cache.number("use_direct_from_level");
    if (direct !== undefined)
      cache.differently("use_direct_from_level", "tiles from this level on are rendered for each request");
    const first = new Map<string, Content>();
    for (const { grid, extent: area } of grids) {
      if (first.has(grid.id)) {
        cache.differently("grids", `two of them are ${grid.id}`);
        continue;
      }
      const extent = area && corners(area);
      first.set(
        grid.id,
        defined({
          gridSet: grid.id,
          extent,
          zoomStop: grid.content === undefined ? grid.resolutions.length - 1 : undefined,
          maxCachedLevel: direct === undefined ? undefined : direct - 1,
        }),
      );
    }
    return [...first.values()];
  }

  #rendering(cache: ForeignObject, mimeType: string, hasMetatiles: boolean): Content {
    const { globals } = this.#context;
    const size = cache.numbers("meta_size") ?? globals.numbers("cache.meta_size") ?? META_SIZE;
    const buffer = cache.number("meta_buffer") ?? globals.number("cache.meta_buffer") ?? META_BUFFER;
    const isLossy = mimeType === "image/jpeg" || mimeType === "image/vnd.jpeg-png";
    const quality =
      cache.number("image.encoding_options.jpeg_quality") ?? globals.number("image.jpeg_quality") ?? JPEG_QUALITY;
    const metatile = limitedMetatile(cache, "meta_size", size);
    return {
      ...(hasMetatiles ? { metatile, gutter: Math.min(MOST_GUTTER, buffer) } : {}),
      ...(isLossy ? { jpegQuality: quality } : {}),
    };
  }

  #expiry(cache: ForeignObject): number | undefined {
    if (cache.flag("disable_storage") === true) return -1;
    const seconds = Object.entries(UNITS).reduce(
      (sum, [unit, factor]) => sum + (cache.number(["refresh_before", unit]) ?? 0) * factor,
      0,
    );
    for (const key of ["time", "mtime"])
      cache.kept(["refresh_before", key], "tiles expire by their age alone: truncate the layer softly instead");
    return seconds === 0 ? undefined : Math.round(seconds);
  }
}
