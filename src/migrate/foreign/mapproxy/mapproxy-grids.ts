import { changesDatum, transformBetween } from "../../../grid/crs/coordinate-systems.ts";
import { HALF_WORLD, WEB_WORLD } from "../../../grid/crs/web-mercator.ts";
import { WORLD } from "../../../grid/extent.ts";
import { canonicalSrs, type Extent } from "../../../grid/grid-set.ts";
import type { Content } from "../../../lib/is-map.ts";
import { ok, type Result, refuse } from "../../../lib/result.ts";
import { builtInGrid, type ForeignGrid, isWebGrid, ownGrid } from "../foreign-grid.ts";
import { extentIn, ForeignObject } from "../foreign-object.ts";

const SQRT2 = Math.SQRT2;
/** The number of levels of a grid without one, and of a grid whose resolutions differ by the square root of 2. */
const LEVELS = 20;
const LEVELS_SQRT2 = 40;
/** The most levels of a grid set. */
const MOST_LEVELS = 64;

/** The grids that are built into MapProxy. */
const BUILT_IN: Readonly<Record<string, Content>> = {
  GLOBAL_GEODETIC: { srs: "EPSG:4326", origin: "sw" },
  GLOBAL_MERCATOR: { srs: "EPSG:900913", origin: "sw" },
  GLOBAL_WEBMERCATOR: { srs: "EPSG:3857", origin: "nw" },
};

/** The grids of a MapProxy configuration. Each is converted when it is first used. */
export class MapProxyGrids {
  readonly #objects: ReadonlyMap<string, ForeignObject>;
  readonly #globals: ForeignObject;
  readonly #areNamesUnique: boolean;
  readonly #known = new Map<string, Result<ForeignGrid, string>>();

  constructor(grids: ReadonlyMap<string, ForeignObject>, globals: ForeignObject) {
    this.#globals = globals;
    this.#objects = grids;
    this.#areNamesUnique = new Set([...grids].map(([key, grid]) => nameOf(grid) ?? key)).size === grids.size;
  }

  get objects(): readonly ForeignObject[] {
    return [...this.#objects.values()];
  }

  /** The used grids that are not built in. */
  get used(): readonly ForeignGrid[] {
    return [...this.#known.values()].flatMap((grid) =>
      grid.ok && grid.value.content !== undefined ? [grid.value] : [],
    );
  }

  /** Returns a grid, or why it cannot be a grid set. */
  grid(name: string, asked: readonly string[] = []): Result<ForeignGrid, string> {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const made = asked.includes(name)
      ? refuse(`the grid ${name} names itself`)
      : this.#translate(name, [...asked, name]);
    this.#known.set(name, made);
    return made;
  }

  #translate(key: string, asked: readonly string[]): Result<ForeignGrid, string> {
    const own = this.#objects.get(key);
    if (own === undefined && BUILT_IN[key] === undefined) return refuse(`there is no grid ${key}`);
    const name = (own && nameOf(own)) ?? key;
    own?.value("name");
    if (!this.#areNamesUnique) own?.differently("name", "two grids have one name: the key names the grid set");
    const options = this.#withBase(own, key, asked);
    const srsName = srsNameOf(options.text("srs") ?? "EPSG:900913");
    const srs = srsCode(srsName);
    if (srs === undefined) return refuse(`${srsName} is no EPSG code`);
    const extent = extentOf(options, srs);
    if (!extent.ok) return extent;
    const [width = 256, height = 256] = options.numbers("tile_size") ?? this.#globals.numbers("grid.tile_size") ?? [];
    const tileSize = [width, height] as const;
    const levels = this.#levels(options, extent.value, tileSize, asked);
    if (!levels.ok) return levels;
    const origin = (options.text("origin") ?? "ll").toLowerCase();
    if (!["ll", "sw", "ul", "nw"].includes(origin)) return refuse(`the origin ${origin} is not known`);
    const rows = origin === "ul" || origin === "nw" ? "top" : "bottom";
    const { resolutions, names } = levels.value;
    for (const key of ["stretch_factor", "max_shrink_factor", "threshold_res"])
      own?.kept(key, "tiles are served at their own resolutions, and maps are composed from the nearest level");
    const common = { name, srs, srsName, extent: extent.value, rows, resolutions, tileSize } as const;
    if (isWebGrid(common)) {
      own?.differently("srs", "the grid is the built-in EPSG:900913");
      return ok(builtInGrid(common, "EPSG:900913"));
    }
    const scaleNames = names ?? resolutions.map((_, z) => String(z).padStart(2, "0"));
    return ok(ownGrid(common, { id: this.#areNamesUnique ? name : key, scaleNames }));
  }

  /**
   * Returns the options of a grid. For options that the grid lacks, returns the options of its base. Each read is
   * marked in the grid that has the option.
   */
  #withBase(
    own: ForeignObject | undefined,
    name: string,
    asked: readonly string[],
  ): Pick<ForeignObject, "value" | "text" | "number" | "numbers" | "differently"> {
    const base = own?.text("base");
    const below =
      base === undefined || asked.slice(0, -1).includes(base)
        ? new ForeignObject(name, BUILT_IN[name] ?? {})
        : this.#withBase(this.#objects.get(base), base, [...asked, base]);
    const first = (key: string) => (own?.look(key) === undefined ? below : own);
    return {
      value: (key) => first(String(key)).value(key),
      text: (key) => first(String(key)).text(key),
      number: (key) => first(String(key)).number(key),
      numbers: (key) => first(String(key)).numbers(key),
      differently: (key, how) => first(String(key)).differently(key, how),
    };
  }

  #levels(
    options: Pick<ForeignObject, "value" | "text" | "number">,
    extent: Extent,
    tileSize: readonly [number, number],
    asked: readonly string[],
  ): Result<{ readonly resolutions: readonly number[]; readonly names?: readonly string[] }, string> {
    const listed = options.value("res");
    if (Array.isArray(listed)) return listedLevels(listed);
    const factorText = options.text("res_factor") ?? "2";
    const factor = factorText === "sqrt2" ? SQRT2 : Number(factorText);
    if (!(factor > 1)) return refuse(`res_factor ${factorText} is no step between levels`);
    const first =
      options.number("min_res") ??
      Math.max((extent.maxX - extent.minX) / tileSize[0], (extent.maxY - extent.minY) / tileSize[1]);
    const last = options.number("max_res");
    const count = options.number("num_levels");
    if (count !== undefined && !(Number.isInteger(count) && count >= 1 && count <= MOST_LEVELS))
      return refuse(`num_levels ${count} is no number of levels from 1 to ${MOST_LEVELS}`);
    const align = options.text("align_resolutions_with");
    if (align !== undefined) return this.#aligned(align, { first, last, count, factor, asked });
    if (last !== undefined && count !== undefined) {
      const step = (Math.log10(first) - Math.log10(last)) / (count - 1);
      return ok({ resolutions: Array.from({ length: count }, (_, i) => 10 ** (Math.log10(first) - step * i)) });
    }
    const resolutions = [first];
    const most = last === undefined ? (count ?? (factor === SQRT2 ? LEVELS_SQRT2 : LEVELS)) : MOST_LEVELS;
    for (let next = first / factor; resolutions.length < most && !(last !== undefined && last >= next); next /= factor)
      resolutions.push(next);
    return ok({ resolutions });
  }

  #aligned(
    name: string,
    wanted: {
      readonly first: number;
      readonly last: number | undefined;
      readonly count: number | undefined;
      readonly factor: number;
      readonly asked: readonly string[];
    },
  ): Result<{ readonly resolutions: readonly number[] }, string> {
    const with_ = this.grid(name, wanted.asked);
    if (!with_.ok) return with_;
    const { first, last = 0, count, factor } = wanted;
    const part = with_.value.resolutions.filter((res) => res <= first && res >= last).slice(0, count);
    const [a = 1, b = 1] = part;
    const isStep = (step: number) => Math.abs(a / b - step) < 1e-8;
    if (factor === SQRT2 && isStep(2)) return ok({ resolutions: part.flatMap((res) => [res, res / SQRT2]) });
    if (factor === 2 && isStep(SQRT2)) return ok({ resolutions: part.filter((_, i) => i % 2 === 0) });
    return ok({ resolutions: part });
  }
}

/** Resolutions, or pairs of a name and a resolution. */
function listedLevels(
  listed: readonly unknown[],
): Result<{ readonly resolutions: readonly number[]; readonly names?: readonly string[] }, string> {
  const levels = listed
    .map((item) => (Array.isArray(item) ? { name: String(item[0]), res: Number(item[1]) } : { res: Number(item) }))
    .sort((a, b) => b.res - a.res);
  if (!levels.every(({ res }) => res > 0)) return refuse("res has a value that is no resolution");
  const names = levels.flatMap(({ name }) => (name === undefined ? [] : [name]));
  return ok({ resolutions: levels.map(({ res }) => res), ...(names.length === levels.length ? { names } : {}) });
}

function extentOf(
  options: Pick<ForeignObject, "numbers" | "text" | "differently">,
  srs: number,
): Result<Extent, string> {
  const listed = options.numbers("bbox");
  if (listed === undefined || listed.length === 0) {
    if (srs === 4326) return ok(WORLD);
    if (canonicalSrs(srs) === 3857) return ok(WEB_WORLD);
    return refuse(`bbox is missing for EPSG:${srs}`);
  }
  const box = extentIn(listed);
  if (box === undefined) return refuse("bbox has not four numbers");
  const named = options.text("bbox_srs");
  const boxSrs = named === undefined ? srs : srsCode(srsNameOf(named));
  if (boxSrs === undefined) return refuse(`bbox_srs ${named} is no EPSG code`);
  if (changesDatum(boxSrs, srs))
    options.differently(
      "bbox",
      `EPSG:${boxSrs} and EPSG:${srs} have two datums: MapProxy may convert it to a place metres away; name it in EPSG:${srs}`,
    );
  const extent = gridBox(box, boxSrs, srs);
  return extent.ok && !hasArea(extent.value) ? refuse(`bbox has no area in EPSG:${srs}`) : extent;
}

/** Returns the name of a grid that differs from its key. MapProxy uses it in addresses and in names of directories. */
const nameOf = (grid: ForeignObject): string | undefined => {
  const name = grid.look("name");
  return typeof name === "string" && name !== "" ? name : undefined;
};

/** Returns the name of a CRS in MapProxy's spelling. A number is an EPSG code. */
export const srsNameOf = (given: string): string => (given.includes(":") ? given.toUpperCase() : `EPSG:${given}`);

/** Returns the EPSG code of a CRS. Undefined if it has none. */
export function srsCode(name: string): number | undefined {
  if (name === "CRS:84") return 4326;
  const digits = /^EPSG:(\d+)$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

export const hasArea = ({ minX, minY, maxX, maxY }: Extent): boolean => minX < maxX && minY < maxY;

/** The parts of each edge of a converted box: of a coverage, and of a grid (MapProxy's own, which make 16 points). */
const COVERAGE_STEPS = 16;
const GRID_STEPS = 4;
/** The latitude at which MapProxy ends the map in web mercator. */
const EDGE_LATITUDE = 85.06;

/** Returns the box around a coverage in the CRS of a grid. */
export const coverageIn = (box: Extent, from: number, to: number): Result<Extent, string> =>
  boxIn(box, from, to, COVERAGE_STEPS);

/**
 * Returns the box of a grid in its CRS, exactly as MapProxy computes it, because tiles are counted from its corners.
 */
function gridBox(box: Extent, from: number, to: number): Result<Extent, string> {
  const found = boxIn(box, from, to, GRID_STEPS);
  if (!found.ok || from !== 4326 || canonicalSrs(to) !== 3857) return found;
  const { minX, minY, maxX, maxY } = box;
  return ok({
    minX: minX <= -180 ? -HALF_WORLD : found.value.minX,
    minY: minY <= -EDGE_LATITUDE ? -HALF_WORLD : found.value.minY,
    maxX: maxX >= 180 ? HALF_WORLD : found.value.maxX,
    maxY: maxY >= EDGE_LATITUDE ? HALF_WORLD : found.value.maxY,
  });
}

/**
 * Returns the box around a box of another CRS. `steps` is the number of parts of each edge, whose ends are converted.
 */
function boxIn(box: Extent, from: number, to: number, steps: number): Result<Extent, string> {
  if (canonicalSrs(from) === canonicalSrs(to)) return ok(box);
  const transform = transformBetween(from, to);
  if (transform === undefined) return refuse(`EPSG:${from} cannot be converted to EPSG:${to} here`);
  const [stepX, stepY] = [(box.maxX - box.minX) / steps, (box.maxY - box.minY) / steps];
  const points = Array.from({ length: steps + 1 }, (_, i) => i).flatMap((i) => {
    const [x, y] = [box.minX + i * stepX, box.minY + i * stepY];
    const ofRows = [transform(x, box.minY), transform(x, box.maxY)];
    // The rows include the corners.
    return i === 0 || i === steps ? ofRows : [...ofRows, transform(box.minX, y), transform(box.maxX, y)];
  });
  if (!points.flat().every(Number.isFinite)) return refuse(`the box has no image in EPSG:${to}`);
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  return ok({ minX: Math.min(...xs), minY: Math.min(...ys), maxX: Math.max(...xs), maxY: Math.max(...ys) });
}
