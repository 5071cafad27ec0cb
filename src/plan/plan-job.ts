import {
  asZoom,
  canonicalSrs,
  type Extent,
  extentsOverlap,
  extentText,
  type GridSetName,
  intersectRects,
  rectCount,
  rectOf,
  sameSrs,
  type TileRect,
  type Zoom,
} from "../grid/grid-set.ts";
import { gridSetHint } from "../grid/grid-set-hint.ts";
import { limitOf, type Selection } from "../grid/selection.ts";
import {
  type Parameters,
  parametersId,
  parseParameters,
  parseTruncatedParameters,
} from "../layer/filter/parameter-filter.ts";
import { formatOf } from "../layer/format.ts";
import { coverageAt, type GridSubset, subsetExtent } from "../layer/grid-subset.ts";
import { defaultSubset, findSubset, type Layer, metatileFor } from "../layer/layer.ts";
import { storesLevel } from "../layer/stored-levels.ts";
import type { FormatName } from "../layer/tile-set.ts";
import { atOnce } from "../lib/process/slices.ts";
import { badField, type FieldRefusal, type Refusal } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import { planFields } from "./job/job-fields.ts";
import type { JobOptions } from "./job/job-options.ts";
import type { JobRequest } from "./job/job-request.ts";
import type { Combination } from "./parameters/combination.ts";
import { boxIn, planArea, planTiles } from "./plan-selection.ts";
import type { MassTruncateRequest, SeedRequest } from "./seed-request.ts";

/** Totals have 64 bits in the classic interface (`docs/reference/wire-format.md`, Bodies). */
const MAX_TOTAL = 2n ** 63n - 1n;

/**
 * The rules of an interface for the name of the grid set, for a request without a grid set, and for levels that the
 * grid set lacks.
 */
export interface PlanRules {
  /** The name of the grid set field in the client's protocol, for refusals. */
  readonly gridSetField: string;
  /** Returns the grid set of a seed or reseed that names none. */
  readonly defaultSubset: (layer: Layer) => GridSubset | undefined;
  /** How levels are handled that every grid set lacks. */
  readonly missingLevels: "reduced" | "refused";
}

/** The classic interface behaves like GeoWebCache (`docs/reference/wire-format.md`, Seed request). */
const CLASSIC_RULES: PlanRules = {
  gridSetField: "gridSetId",
  defaultSubset: ({ gridSubsets }) => gridSubsets[0],
  missingLevels: "reduced",
};

/**
 * Under `/api/v1` a level too many is treated as a mistake, because each level has four times the tiles of the previous
 * level.
 */
export const API_RULES: PlanRules = { gridSetField: "gridSet", defaultSubset, missingLevels: "refused" };

/** The interface and the time of the client's request. */
interface Asking {
  /** The rules of the interface. Absent: the rules of the classic interface. */
  readonly rules?: PlanRules;
  /** The time from which an age is subtracted. */
  readonly nowMs?: number;
}

/** Runs `planSeedInSteps` without yielding: without an area, planning is fast. */
export const planSeed = (requested: SeedRequest, layer: Layer, options: JobOptions): Result<JobRequest, Refusal> =>
  atOnce(planSeedInSteps(requested, layer, options, {}));

/**
 * Validates a seed request against its layer. Returns the exact work, or a refusal that names the field. Yields
 * regularly. Pure.
 */
export function* planSeedInSteps(
  requested: SeedRequest,
  layer: Layer,
  options: JobOptions,
  { rules = CLASSIC_RULES, nowMs = 0 }: Asking,
): Generator<undefined, Result<JobRequest, Refusal>> {
  const subsets = chooseSubsets(requested, layer, rules);
  if (!subsets.ok) return subsets;
  const request = withBounds(requested, subsets.value);
  const format = chooseFormat(request, layer);
  if (!format.ok) return format;
  const parameters = chooseParameters(request, layer);
  if (!parameters.ok) return parameters;
  const whole = chooseRanges(request, subsets.value, rules);
  if (!whole.ok) return whole;
  const limited = yield* limitRanges(request, whole.value, subsets.value);
  if (!limited.ok) return limited;
  const ranges = withStoredLevels(request, limited.value, layer);
  if (!ranges.ok) return ranges;
  const { zoomStart, zoomStop, byGridSet, bounds, selection } = ranges.value;
  const tooMany = request.type === "truncate" ? undefined : aboveMost(tilesIn(byGridSet));
  if (tooMany !== undefined) return refuse(tooMany);
  const fields = planFields(request, nowMs);
  if (!fields.ok) return fields;
  const [only] = subsets.value;
  const own = [request.retryCount, request.retryWaitMs, request.maxFailures];
  return ok({
    type: request.type,
    layer: layer.name,
    gridSet: isGridSetGiven(request) || request.type !== "truncate" ? (only?.gridSet.id ?? null) : null,
    format: format.value,
    ...parameters.value,
    bounds,
    ...(selection === undefined ? {} : { limit: limitOf(selection), selection }),
    zoomStart,
    zoomStop,
    ranges: byGridSet,
    metatile: metatileFor(layer, format.value),
    threadCount:
      request.type === "truncate" ? 1 : Math.min(Math.max(request.threadCount ?? 1, 1), options.maxThreadCount),
    ownFailurePolicy: own.some((field) => field !== undefined),
    ...fields.value,
    ...(request.terms === undefined ? {} : { terms: request.terms }),
    ...(request.supersede === undefined ? {} : { supersede: request.supersede }),
  });
}

/** Returns the same job in another format. Pure. */
export function inFormat(
  planned: JobRequest,
  request: Pick<SeedRequest, "type" | "format">,
  layer: Layer,
): Result<JobRequest, Refusal> {
  const format = chooseFormat(request, layer);
  if (!format.ok) return format;
  return ok({ ...planned, format: format.value, metatile: metatileFor(layer, format.value) });
}

/** Returns the same job for several combinations of parameters. Merges equal combinations. Pure. */
export function inCombinations(
  planned: JobRequest,
  sets: readonly SeedRequest["parameters"][],
  layer: Layer,
): Result<JobRequest, Refusal> {
  const { type, ranges } = planned;
  const combinations = new Map<string, Combination>();
  for (const parameters of sets) {
    const chosen = chooseParameters({ type, parameters }, layer);
    if (!chosen.ok) return chosen;
    combinations.set(chosen.value.parametersId, chosen.value);
  }
  const [only, ...more] = combinations.values();
  if (more.length === 0) return ok({ ...planned, ...only });
  const tooMany = type === "truncate" ? undefined : aboveMost(BigInt(combinations.size) * tilesIn(ranges));
  if (tooMany !== undefined) return refuse(tooMany);
  return ok({ ...planned, parameters: null, parametersId: null, combinations: [...combinations.values()] });
}

const tilesIn = (ranges: JobRequest["ranges"]): bigint =>
  ranges.reduce((sum, { rects }) => rects.reduce((s, rect) => s + rectCount(rect), sum), 0n);

const aboveMost = (tiles: bigint): Refusal | undefined =>
  tiles > MAX_TOTAL ? badField("zoomStop", `at most ${MAX_TOTAL} tiles in all`, `${tiles} tiles`) : undefined;

/** Plans a `truncateExtent`: all formats and parameters of one grid set within the bounds. Pure. */
export function planExtentTruncate(
  request: Extract<MassTruncateRequest, { type: "truncateExtent" }>,
  layer: Layer,
  options: JobOptions,
): Result<JobRequest, Refusal> {
  if (request.gridSet === undefined) return refuse(badField("gridSetId", `one of ${gridSetNames(layer)}`, null));
  const planned = planSeed(
    {
      type: "truncate",
      gridSet: request.gridSet,
      parameters: new Map(),
      ...(request.bounds === undefined ? {} : { bounds: request.bounds }),
    },
    layer,
    options,
  );
  return planned.ok ? ok({ ...planned.value, parameters: null, parametersId: null }) : planned;
}

const isGridSetGiven = (request: SeedRequest): boolean => request.gridSet !== undefined || request.srs !== undefined;
const gridSetNames = (layer: Layer): string => layer.gridSubsets.map((s) => s.gridSet.id).join(", ");

/** Returns the grid sets of a request: one, or all grid sets of the layer for a truncate that names none. */
export function chooseSubsets(
  request: SeedRequest,
  layer: Layer,
  { gridSetField, defaultSubset: defaultOf }: PlanRules,
): Result<readonly GridSubset[], Refusal> {
  if (request.gridSet !== undefined) {
    const subset = findSubset(layer, request.gridSet);
    if (subset !== undefined) return ok([subset]);
    const names = layer.gridSubsets.map(({ gridSet }) => gridSet.id);
    const srsOf = (id: string): number | undefined => findSubset(layer, id)?.gridSet.srs;
    // The classic interface has no such hint, because its messages are fixed.
    const hint = gridSetField === "gridSet" ? gridSetHint(request.gridSet, names, srsOf).replace(/^; /, " (") : "";
    const end = hint === "" ? "" : `${hint})`;
    return refuse(badField(gridSetField, `one of ${gridSetNames(layer)}${end}`, request.gridSet));
  }
  if (request.srs !== undefined) {
    const srs = request.srs;
    const matching = layer.gridSubsets.filter((s) => sameSrs(s.gridSet.srs, srs));
    if (matching.length === 1) return ok(matching);
    if (matching.length === 0) {
      const offered = layer.gridSubsets.map((s) => `${s.gridSet.id} (srs ${canonicalSrs(s.gridSet.srs)})`).join(", ");
      return refuse(badField("srs", `the code of one of the layer's grid sets: ${offered}`, srs));
    }
    const names = matching.map((s) => s.gridSet.id).join(", ");
    return refuse(badField("srs", `one matching grid set; give ${gridSetField}, one of ${names}`, srs));
  }
  if (request.type === "truncate") {
    const field = (["bounds", "area", "tiles"] as const).find((field) => request[field] !== undefined);
    if (field !== undefined) {
      return refuse(
        badField(
          gridSetField,
          `one of ${gridSetNames(layer)} (${field} ${field === "area" ? "has" : "have"} no meaning without a grid set or srs)`,
          null,
        ),
      );
    }
    return ok(layer.gridSubsets);
  }
  const standard = defaultOf(layer);
  return ok(standard === undefined ? [] : [standard]);
}

function chooseFormat(request: Pick<SeedRequest, "type" | "format">, layer: Layer): Result<FormatName | null, Refusal> {
  if (request.format === undefined)
    return ok(request.type === "truncate" ? null : (layer.formats[0]?.mimeType ?? null));
  const format = formatOf(request.format);
  const offered = layer.formats.find((f) => f.mimeType === format?.mimeType);
  if (offered !== undefined) return ok(offered.mimeType);
  return refuse(badField("format", `one of ${layer.formats.map((f) => f.mimeType).join(", ")}`, request.format));
}

function chooseParameters(
  request: Pick<SeedRequest, "type" | "parameters">,
  layer: Layer,
): Result<Combination, Refusal> {
  const filters = layer.parameterFilters;
  if (request.type !== "truncate") {
    const parsed = parseParameters(filters, request.parameters, "refuse");
    return parsed.ok ? ok({ parameters: parsed.value.values, parametersId: parsed.value.id }) : parsed;
  }
  const parsed = parseTruncatedParameters(filters, request.parameters);
  // A truncate accepts parameters that the filters no longer allow, so that leftover tiles can be removed.
  const { id, values } = parsed.ok ? parsed.value : verbatimParameters(request.parameters);
  return ok({ parameters: values, parametersId: id });
}

/** Returns a combination and its id as the client gave it, ignoring the layer's filters. */
export function verbatimParameters(given: ReadonlyMap<string, string>): Parameters {
  const values = Object.fromEntries([...given].map(([key, value]) => [key.toUpperCase(), value]));
  return { id: parametersId(values), values };
}

/**
 * Replaces an area by bounds if it is also a box in the grid set's CRS, because bounds may have any size at any level.
 */
function withBounds(request: SeedRequest, [subset]: readonly GridSubset[]): SeedRequest {
  const { area, ...others } = request;
  const bounds = area === undefined || subset === undefined ? undefined : boxIn(area, subset.gridSet.srs);
  return bounds === undefined ? request : { ...others, bounds };
}

/**
 * Omits the levels whose tiles are not stored, except for a truncate, because an earlier configuration may have stored
 * them.
 */
function withStoredLevels(
  { type, zoomStart, zoomStop }: SeedRequest,
  ranges: LimitedRanges,
  layer: Layer,
): Result<LimitedRanges, Refusal> {
  if (type === "truncate") return ok(ranges);
  const byGridSet = ranges.byGridSet.flatMap(({ gridSet, rects }) => {
    const subset = findSubset(layer, gridSet);
    const stored = rects.filter(({ z }) => subset === undefined || storesLevel(layer, subset, z));
    return stored.length === 0 ? [] : [{ gridSet, rects: stored }];
  });
  if (byGridSet.length > 0) return ok({ ...ranges, byGridSet });
  const [field, level] = zoomStart !== undefined ? ["zoomStart", zoomStart] : ["zoomStop", zoomStop ?? null];
  const expected =
    "a level whose tiles are stored (minCachedLevel, maxCachedLevel and expireCacheSeconds of the layer)";
  const { source, name } = layer;
  const hints =
    source.type === "group" ? [`Group ${name} stores no tiles: seed its layers, ${source.layers.join(" and ")}`] : [];
  return refuse({ ...badField(field, expected, level, hints), isNothingThere: true });
}

interface LimitedRanges extends Ranges {
  readonly bounds: Extent | null;
  readonly selection?: Selection;
}

/** Limits the ranges to an area or a list of tiles. In both cases there is exactly one grid set. */
function* limitRanges(
  request: SeedRequest,
  ranges: Ranges,
  [subset]: readonly GridSubset[],
): Generator<undefined, Result<LimitedRanges, Refusal>> {
  const { area, tiles, bounds = null } = request;
  if (subset === undefined || (area === undefined && tiles === undefined)) return ok({ ...ranges, bounds });
  const limited =
    area === undefined
      ? yield* planTiles(tiles ?? [], subset)
      : yield* planArea(area, subset, ranges.zoomStart, ranges.zoomStop);
  if (!limited.ok) return area?.bounds === undefined ? limited : refuse(asBounds(limited.error));
  const { rects, ...rest } = limited.value;
  const zooms = rects.map(({ z }) => z);
  return ok({
    zoomStart: asZoom(Math.min(...zooms)),
    zoomStop: asZoom(Math.max(...zooms)),
    byGridSet: [{ gridSet: subset.gridSet.id, rects }],
    ...rest,
  });
}

/** Rewords a refusal of an area for a client that gave bounds and their CRS. */
const asBounds = (refusal: Refusal): Refusal =>
  "field" in refusal ? { ...refusal, field: refusal.field.replace(/^area/, "bounds") } : refusal;

interface Ranges {
  readonly zoomStart: Zoom;
  readonly zoomStop: Zoom;
  readonly byGridSet: JobRequest["ranges"];
}

/**
 * Returns the refusal of the first level of a request that every grid set lacks. Undefined if there is no such level.
 */
export function missingLevel(
  requested: Pick<SeedRequest, "zoomStart" | "zoomStop">,
  subsets: readonly GridSubset[],
  levels: string,
): FieldRefusal | undefined {
  const first = Math.min(...subsets.map(({ zoomStart }) => zoomStart));
  const last = Math.max(...subsets.map(({ zoomStop }) => zoomStop));
  for (const field of ["zoomStart", "zoomStop"] as const) {
    const level = requested[field];
    if (level !== undefined && (level < first || level > last))
      return badField(field, `a level of the layer: ${levels}`, level);
  }
  return undefined;
}

function chooseRanges(
  request: SeedRequest,
  subsets: readonly GridSubset[],
  { missingLevels }: PlanRules,
): Result<Ranges, Refusal> {
  const { zoomStart, zoomStop, bounds } = request;
  if (zoomStart !== undefined && zoomStart < 0) return refuse(badField("zoomStart", "a level of 0 or more", zoomStart));
  if (zoomStop !== undefined && zoomStop < 0) return refuse(badField("zoomStop", "a level of 0 or more", zoomStop));
  if (zoomStart !== undefined && zoomStop !== undefined && zoomStart > zoomStop) {
    return refuse(badField("zoomStart", `at most zoomStop (${zoomStop})`, zoomStart));
  }
  const levels = subsets.map((s) => `${s.zoomStart} to ${s.zoomStop} in ${s.gridSet.id}`).join(", ");
  const missing = missingLevels === "refused" ? missingLevel(request, subsets, levels) : undefined;
  if (missing !== undefined) return refuse(missing);
  if (bounds !== undefined && (bounds.minX >= bounds.maxX || bounds.minY >= bounds.maxY)) {
    return refuse(badField("bounds", boundsExpected(subsets), extentText(bounds)));
  }
  const byGridSet: { gridSet: GridSetName; rects: TileRect[] }[] = [];
  let first: Zoom | undefined;
  let last: Zoom | undefined;
  for (const subset of subsets) {
    const start = asZoom(Math.max(zoomStart ?? subset.zoomStart, subset.zoomStart));
    const stop = asZoom(Math.min(zoomStop ?? subset.zoomStop, subset.zoomStop));
    if (start > stop) continue;
    const rects = rectsOf(subset, start, stop, bounds);
    if (rects.length === 0) continue;
    if (first === undefined || start < first) first = start;
    if (last === undefined || stop > last) last = stop;
    byGridSet.push({ gridSet: subset.gridSet.id, rects });
  }
  if (first !== undefined && last !== undefined) return ok({ zoomStart: first, zoomStop: last, byGridSet });
  const overlapping = subsets.some((s) => bounds === undefined || extentsOverlap(bounds, subsetExtent(s)));
  if (!overlapping && bounds !== undefined)
    return refuse({ ...badField("bounds", boundsExpected(subsets), extentText(bounds)), isNothingThere: true });
  const [field, level] = zoomStart !== undefined ? ["zoomStart", zoomStart] : ["zoomStop", zoomStop ?? null];
  return refuse({ ...badField(field, `a level of the layer: ${levels}`, level), isNothingThere: true });
}

/** Returns a readable text of the coverage, with which bounds are compared. */
export const coverageText = (subsets: readonly GridSubset[]): string =>
  `the layer's coverage, ${subsets.map((s) => `${extentText(subsetExtent(s))} in ${s.gridSet.id}`).join("; ")}`;

const boundsExpected = (subsets: readonly GridSubset[]): string =>
  `minx, miny, maxx, maxy with minx < maxx and miny < maxy that overlap ${coverageText(subsets)}`;

function rectsOf(subset: GridSubset, start: Zoom, stop: Zoom, bounds: Extent | undefined): TileRect[] {
  if (bounds !== undefined && !extentsOverlap(bounds, subsetExtent(subset))) return [];
  const rects: TileRect[] = [];
  for (let z = start; z <= stop; z++) {
    const coverage = coverageAt(subset, z);
    if (coverage === undefined) continue;
    const requested = bounds === undefined ? coverage : rectOf(subset.gridSet, z, bounds);
    const rect = requested === undefined ? undefined : intersectRects(requested, coverage);
    if (rect !== undefined) rects.push(rect);
  }
  return rects;
}
