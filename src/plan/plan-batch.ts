import { canonicalSrs, sameSrs } from "../grid/grid-set.ts";
import type { Selection } from "../grid/selection.ts";
import type { Catalogue } from "../layer/catalogue.ts";
import { legalValuesText, listedValues, type ParameterFilter } from "../layer/filter/parameter-filter.ts";
import type { GridSubset } from "../layer/grid-subset.ts";
import type { Layer } from "../layer/layer.ts";
import { defined } from "../lib/defined.ts";
import type { Slices } from "../lib/process/slices.ts";
import { badField, type Refusal, unknownLayer } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import { wildcard } from "../lib/text/wildcard.ts";
import type { JobOptions } from "./job/job-options.ts";
import type { JobRequest } from "./job/job-request.ts";
import {
  type ChosenSet,
  isPlain,
  type RequestedSet,
  resolveSets,
  selectedValues,
  setDocument,
} from "./parameters/value-choice.ts";
import { API_RULES, chooseSubsets, inCombinations, inFormat, missingLevel, planSeedInSteps } from "./plan-job.ts";
import type { SeedRequest } from "./seed-request.ts";

type ParameterSet = ReadonlyMap<string, string>;

/**
 * One request for a job of each layer, grid set and format. It is well-formed, but not validated against the layers.
 */
export interface BatchRequest {
  /** The fields that all jobs share. If a choice below is absent, the value in `request` applies. */
  readonly request: SeedRequest;
  /** At least one pattern. `layersAre` defines whether `*` in a pattern matches any characters. */
  readonly layers: readonly string[];
  readonly layersAre: "names" | "patterns";
  readonly gridSets?: readonly string[] | "*";
  readonly formats?: readonly string[] | "*";
  /**
   * "*": all stored combinations for a truncate, otherwise all combinations of values that the filters list. A choice
   * of values selects among these.
   */
  readonly parameterSets?: readonly RequestedSet[] | "*";
}

/** The jobs of one request. Either all are accepted or none. */
export interface PlannedJobs {
  /** At least one. Jobs of the same tiles share ranges and selection. */
  readonly requests: readonly JobRequest[];
  /**
   * How to handle a job without tiles in the range: refuse the request if its layer and grid set were named, omit the
   * job if a wildcard matched them.
   */
  readonly empty: "refused" | "left out";
}

/** The most combinations of grid set, format and parameters in all jobs of one request. */
const MOST_TILE_SETS = 1000;
/**
 * The most corners or tiles in the selections of one request: each working job has a separate index, with 8 bytes per
 * number and 64 MiB in total.
 */
const MOST_NUMBERS = 2 ** 23;

/** The choices for the jobs of one layer. Undefined: the default of a job without that field. */
interface Choices {
  readonly layer: Layer;
  readonly gridSets: readonly (string | undefined)[];
  readonly formats: readonly (string | undefined)[];
  readonly parameters: readonly ParameterSet[] | StoredSets;
  /** The sets as requested. Absent: as in `parameters`, or all. */
  readonly requestedSets?: readonly ChosenSet[];
}

/** Selects the stored combinations, including combinations with keys that the layer no longer has. */
type StoredSets = "stored";

/** The values of each key. Selects every combination of them. */
type Spread = readonly (readonly [string, readonly string[]])[];

interface Selected extends Pick<Choices, "requestedSets"> {
  readonly spreads: readonly Spread[] | StoredSets;
}

/** Inputs of the planning that are not in the request. */
export interface PlanContext {
  readonly options: JobOptions;
  /** The time from which ages are subtracted, the same for all jobs. */
  readonly nowMs: number;
  /** Absent: a request with levels that a grid set lacks is refused. */
  readonly missingLevels?: "reduced";
  /** The slices of the planning. Their signal aborts it. */
  readonly slices: Slices;
}

/** A request whose ages have been converted to times. */
type ResolvedRequest = Omit<BatchRequest, "parameterSets"> & { readonly parameterSets?: readonly ChosenSet[] | "*" };

/** Plans a batch: validates all combinations against their layers, or returns the first refusal. */
export async function planBatch(
  { parameterSets: requestedSets, ...others }: BatchRequest,
  catalogue: Catalogue,
  at: PlanContext,
): Promise<Result<PlannedJobs, Refusal>> {
  const sets = typeof requestedSets === "object" ? resolveSets(requestedSets, at.nowMs) : ok(requestedSets);
  if (!sets.ok) return sets;
  const many: ResolvedRequest = { ...others, ...(sets.value === undefined ? {} : { parameterSets: sets.value }) };
  const layers = chosenLayers(many, catalogue);
  if (!layers.ok) return layers;
  const empty = isOpen(many) ? "left out" : "refused";
  const chosen: Choices[] = [];
  let nothing: Refusal | undefined;
  let count = 0;
  for (const layer of layers.value) {
    const selected = selectedSets(many, layer);
    if (!selected.ok) {
      nothing = ofLayer(selected.error, layer, many);
      if (empty === "left out" && selected.error.isNothingThere === true) continue;
      return refuse(nothing);
    }
    count += countOf(many, layer, selected.value);
    if (count > MOST_TILE_SETS) continue;
    chosen.push(choicesOf(many, layer, selected.value));
  }
  if (count > MOST_TILE_SETS) {
    const field = (["parameterSets", "formats", "gridSets"] as const).find((name) => many[name] !== undefined);
    const expected = `what comes to at most ${MOST_TILE_SETS} tile sets in all`;
    return refuse(badField(field ?? "layers", expected, `${count} tile sets`));
  }
  if (nothing !== undefined && chosen.length === 0) return refuse(nothing);
  const subsets = chosen.flatMap((choices) => subsetsOf(many.request, choices));
  const misplaced = selectionInOneUnit(many.request, subsets);
  if (misplaced !== undefined) return refuse(misplaced);
  const isReduced = at.missingLevels === "reduced";
  // Grid sets that a wildcard matches may have different levels, so each is planned with its levels.
  const missing = empty === "left out" && !isReduced ? levelOfNone(many.request, subsets) : undefined;
  if (missing !== undefined) return refuse(missing);
  const planned = await planAll(many, chosen, empty === "left out" ? { ...at, missingLevels: "reduced" } : at, empty);
  return planned.ok ? ok({ requests: planned.value, empty }) : planned;
}

/** Returns whether the request has a wildcard. Matches of a wildcard without tiles in the range are omitted. */
const isOpen = ({ layers, layersAre, gridSets }: ResolvedRequest): boolean =>
  gridSets === "*" || (layersAre === "patterns" && layers.some((pattern) => pattern.includes("*")));

/** Returns whether the request may create several jobs. */
export const isMany = ({ layersAre, gridSets, formats, parameterSets }: BatchRequest | ResolvedRequest): boolean =>
  layersAre === "patterns" || [gridSets, formats, parameterSets].some((choice) => choice !== undefined);

/** Adds the layer to a refusal if the request may create several jobs. */
const ofLayer = (refusal: Refusal, { name }: Layer, many: ResolvedRequest): Refusal =>
  isMany(many) ? { ...refusal, details: [...(refusal.details ?? []), `The layer is ${name}.`] } : refusal;

function chosenLayers(
  { layers: requestedLayers, layersAre }: ResolvedRequest,
  { layers }: Catalogue,
): Result<readonly Layer[], Refusal> {
  const found = new Set<Layer>();
  for (const name of requestedLayers) {
    const matching = layersNamed(name, layersAre, layers);
    if (matching.length === 0) return refuse(unknownLayer(name, layers));
    for (const layer of matching) found.add(layer);
  }
  return ok([...found]);
}

/** Returns the layers with a name, or all layers that match a pattern. Empty if there is no such layer. */
export function layersNamed(
  name: string,
  layersAre: BatchRequest["layersAre"],
  layers: Catalogue["layers"],
): readonly Layer[] {
  const named = layers.get(name);
  if (named !== undefined) return [named];
  if (layersAre === "names" || !name.includes("*")) return [];
  const matches = wildcard(name);
  return [...layers.values()].filter((layer) => matches(layer.name));
}

const hasSelection = ({ bounds, area, tiles }: SeedRequest): boolean =>
  bounds !== undefined || area !== undefined || tiles !== undefined;

/**
 * Returns whether each grid set needs a separate job. A truncate without a selection covers all grid sets in one job.
 */
const isEachGridSet = ({ request, gridSets }: ResolvedRequest): boolean =>
  gridSets === "*" && (request.type !== "truncate" || hasSelection(request));

const lengthOf = (choice: readonly unknown[] | "*" | undefined): number =>
  typeof choice === "object" ? choice.length : 1;

/** Returns the combinations of parameters that a request selects for a layer. */
function selectedSets(
  { request, parameterSets }: ResolvedRequest,
  { parameterFilters: filters }: Layer,
): Result<Selected, Refusal> {
  const isTruncate = request.type === "truncate";
  if (parameterSets === undefined) return ok({ spreads: [spreadOf(request.parameters)] });
  if (parameterSets === "*") {
    if (isTruncate) return ok({ spreads: "stored" });
    const spread: [string, readonly string[]][] = [];
    for (const filter of filters) {
      const values = listedValues(filter);
      if (values === undefined) return refuse(unlisted("a list of sets", filter, "*"));
      spread.push([filter.key, values]);
    }
    const all: ChosenSet = new Map(filters.map(({ key }) => [key, { kind: "like", pattern: "*" }]));
    return ok({ spreads: [spread], requestedSets: [all] });
  }
  if (isTruncate)
    return ok({
      spreads: parameterSets.every(isPlain) ? parameterSets.map(spreadOf) : "stored",
      requestedSets: parameterSets,
    });
  const spreads: Spread[] = [];
  for (const set of parameterSets) {
    const spread = spreadAmong(set, filters);
    if (!spread.ok) return spread;
    spreads.push(spread.value);
  }
  if (spreads.some((spread) => sizeOfSpread(spread) > 0)) return ok({ spreads, requestedSets: parameterSets });
  const missed = badField("parameterSets", "what a value that the filters list meets", parameterSets.map(setDocument));
  return refuse({ ...missed, isNothingThere: true });
}

const spreadOf = (set: ParameterSet): Spread => [...set].map(([key, value]) => [key, [value]]);

/** Returns the values that a set selects from the lists of the filters. */
function spreadAmong(set: ChosenSet, filters: Layer["parameterFilters"]): Result<Spread, Refusal> {
  const spread: [string, readonly string[]][] = [];
  for (const [key, choice] of set) {
    const filter = filters.find((known) => known.key === key.toUpperCase());
    if (filter === undefined && typeof choice !== "string") {
      const keys = filters.map((known) => known.key).join(", ");
      return refuse(badField("parameterSets", keys === "" ? "no keys (the layer has none)" : `keys of ${keys}`, key));
    }
    const values = filter === undefined ? [] : listedValues(filter);
    const isNamed = typeof choice === "string" || choice.kind === "any of";
    if (filter !== undefined && values === undefined && !isNamed)
      return refuse(unlisted(`values of ${filter.key} by name`, filter, setDocument(new Map([[key, choice]]))));
    spread.push([key, selectedValues(choice, values ?? [], filter)]);
  }
  return ok(spread);
}

const unlisted = (instead: string, filter: ParameterFilter, given: unknown): Refusal =>
  badField(
    "parameterSets",
    `${instead}, as the values of ${filter.key} cannot be listed (${legalValuesText(filter)})`,
    given,
  );

const sizeOfSpread = (spread: Spread): number => spread.reduce((size, [, values]) => size * values.length, 1);

/** Returns the number of tile sets for a layer, by arithmetic, because filters may have any number of combinations. */
function countOf(many: ResolvedRequest, layer: Layer, { spreads }: Selected): number {
  const { request, gridSets, formats } = many;
  const sets = spreads === "stored" ? 1 : spreads.reduce((sum, spread) => sum + sizeOfSpread(spread), 0);
  const grids = isEachGridSet(many) ? layer.gridSubsets.length : lengthOf(gridSets);
  const kinds = formats === "*" && request.type !== "truncate" ? layer.formats.length : lengthOf(formats);
  return grids * kinds * sets;
}

function choicesOf(many: ResolvedRequest, layer: Layer, { spreads, requestedSets }: Selected): Choices {
  const { request, gridSets, formats } = many;
  return {
    layer,
    gridSets: isEachGridSet(many)
      ? layer.gridSubsets.map(({ gridSet }) => gridSet.id)
      : gridSets === undefined || gridSets === "*"
        ? [request.gridSet]
        : gridSets,
    formats:
      formats === "*"
        ? request.type === "truncate"
          ? [undefined]
          : layer.formats.map(({ mimeType }) => mimeType)
        : (formats ?? [request.format]),
    parameters: spreads === "stored" ? spreads : spreads.flatMap(combinations),
    ...(requestedSets === undefined ? {} : { requestedSets }),
  };
}

/** Returns every combination of the values. */
function combinations(spread: Spread): readonly ParameterSet[] {
  let sets: readonly ParameterSet[] = [new Map()];
  for (const [key, values] of spread)
    sets = sets.flatMap((set) => values.map((value) => new Map([...set, [key, value]])));
  return sets;
}

/**
 * Refuses bounds that apply to several CRSs, and tiles that apply to several grid sets. Undefined if the selection fits
 * all grid sets.
 */
function selectionInOneUnit(request: SeedRequest, subsets: readonly GridSubset[]): Refusal | undefined {
  const { bounds, tiles } = request;
  if (bounds === undefined && tiles === undefined) return undefined;
  const [first] = subsets;
  if (first === undefined) return undefined;
  if (bounds !== undefined && subsets.some(({ gridSet }) => !sameSrs(gridSet.srs, first.gridSet.srs))) {
    const codes = [...new Set(subsets.map(({ gridSet }) => `EPSG:${canonicalSrs(gridSet.srs)}`))].join(", ");
    return badField("boundsCrs", `the CRS of the bounds, as those of the grid sets differ (${codes})`, null);
  }
  const ids = new Set(subsets.map(({ gridSet }) => gridSet.id));
  if (tiles !== undefined && ids.size > 1)
    return badField("tiles", "one grid set, as tiles have other numbers in each; an area has not", [...ids].join(", "));
  return undefined;
}

/** Refuses levels that every grid set lacks. Undefined if every level exists in a grid set. */
function levelOfNone(request: SeedRequest, subsets: readonly GridSubset[]): Refusal | undefined {
  if (subsets.length === 0) return undefined;
  const first = Math.min(...subsets.map(({ zoomStart }) => zoomStart));
  const last = Math.max(...subsets.map(({ zoomStop }) => zoomStop));
  return missingLevel(request, subsets, `${first} to ${last}`);
}

/** Returns the grid sets of the jobs of one layer. Omits grid sets that planning refuses. */
const subsetsOf = (request: SeedRequest, { layer, gridSets }: Choices): readonly GridSubset[] =>
  gridSets.flatMap((id) => {
    const subsets = chooseSubsets(id === undefined ? request : { ...request, gridSet: id }, layer, API_RULES);
    return subsets.ok ? subsets.value : [];
  });

async function planAll(
  many: ResolvedRequest,
  chosen: readonly Choices[],
  at: PlanContext,
  empty: PlannedJobs["empty"],
): Promise<Result<readonly JobRequest[], Refusal>> {
  const { request } = many;
  const planned = new Map<string, JobRequest>();
  let nothing: Refusal | undefined;
  let numbers = 0;
  const { slices } = at;
  for (const choices of chosen) {
    for (const gridSet of choices.gridSets) {
      const grid = gridSet === undefined ? {} : { gridSet };
      const jobs = await slices.run(planLayer({ ...request, ...grid }, choices, at));
      if (!jobs.ok) {
        nothing = ofLayer(jobs.error, choices.layer, many);
        if (empty === "left out" && jobs.error.isNothingThere === true) continue;
        return refuse(nothing);
      }
      for (const job of jobs.value) {
        const identity = JSON.stringify([job.layer, job.gridSet, job.format]);
        if (planned.has(identity)) continue;
        planned.set(identity, job);
        numbers += sizeOf(job.selection);
      }
      if (numbers > MOST_NUMBERS) {
        const field = request.area === undefined ? "tiles" : "area";
        return refuse(badField(field, "fewer corners or tiles, or fewer jobs of one request", `${planned.size} jobs`));
      }
      if (slices.isOver) await slices.next();
    }
  }
  return nothing !== undefined && planned.size === 0 ? refuse(nothing) : ok([...planned.values()]);
}

/** Plans the jobs of one layer in one grid set, one for each format. Computes the ranges once. */
function* planLayer(
  request: SeedRequest,
  { layer, formats, parameters, requestedSets }: Choices,
  { options, nowMs, missingLevels }: PlanContext,
): Generator<undefined, Result<readonly JobRequest[], Refusal>> {
  const { format: _, ...common } = request;
  const sets = parameters === "stored" ? [new Map<string, string>()] : parameters;
  const planned: JobRequest[] = [];
  for (const format of formats) {
    const one = { ...common, ...(format === undefined ? {} : { format }), parameters: sets[0] ?? new Map() };
    const [first] = planned;
    const job =
      first === undefined
        ? yield* planSeedInSteps(one, layer, options, { rules: { ...API_RULES, ...defined({ missingLevels }) }, nowMs })
        : inFormat(first, one, layer);
    if (!job.ok) return job;
    const whole = parameters === "stored" ? ok(forStoredSets(job.value)) : inCombinations(job.value, sets, layer);
    if (!whole.ok) return whole;
    const isOne = whole.value.parameters !== null || requestedSets === undefined;
    planned.push(isOne ? whole.value : { ...whole.value, parametersChosen: requestedSets.map((set) => [...set]) });
  }
  return ok(planned);
}

const forStoredSets = (job: JobRequest): JobRequest => ({ ...job, parameters: null, parametersId: null });

function sizeOf(selection: Selection | undefined): number {
  if (selection === undefined) return 0;
  if (selection.kind === "tiles") return selection.tiles.length;
  if (selection.kind === "rects") return selection.rects.length;
  return selection.polygons.flat().reduce((sum, ring) => sum + ring.length, 0);
}
