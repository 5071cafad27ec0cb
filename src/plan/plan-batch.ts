import { canonicalSrs, sameSrs } from "../grid/grid-set.ts";
import type { Selection } from "../grid/selection.ts";
import type { Catalogue } from "../layer/catalogue.ts";
import { findSubset, type GridSubset, type Layer } from "../layer/layer.ts";
import { legalValuesText, listedValues, type ParameterFilter } from "../layer/parameter-filter.ts";
import { badField, type Refusal, unknownLayer } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import { Slices } from "../lib/slices.ts";
import { matchesWildcard } from "../lib/wildcard.ts";
import type { JobOptions } from "./job-options.ts";
import type { JobRequest } from "./job-request.ts";
import { inCombinations, inFormat, planSeedInSteps } from "./plan-job.ts";
import type { SeedRequest } from "./seed-request.ts";
import { type ChosenSet, isPlain, type RequestedSet, selectedValues, setDocument, settled } from "./value-choice.ts";

type ParameterSet = ReadonlyMap<string, string>;

/** One request for a job of each layer, grid set and format: well-formed, but not yet held against the layers. */
export interface BatchRequest {
  /** What the jobs have in common; absent choices below are its own. */
  readonly request: SeedRequest;
  /** At least one; whether `*` in them stands for any characters. */
  readonly layers: readonly string[];
  readonly layersAre: "names" | "patterns";
  readonly gridSets?: readonly string[] | "*";
  readonly formats?: readonly string[] | "*";
  /** "*": of a truncate whatever is kept, else all that the filters list; a choice of values means those among these. */
  readonly parameterSets?: readonly RequestedSet[] | "*";
}

/** Jobs to be made together: all of them or none. */
export interface PlannedJobs {
  /** At least one. Those of the same tiles share ranges and selection. */
  readonly requests: readonly JobRequest[];
  /** What has no tile in the range: it was named, or a wildcard stands for it. */
  readonly empty: "refused" | "left out";
}

/** Combinations of grid set, format and parameters in all jobs of one request at most. */
const MOST_TILE_SETS = 1000;
/** Each job at work has its own index of what it is limited to: 64 MiB in all, of 8 bytes each. */
const MOST_NUMBERS = 2 ** 23;

/** What the jobs of one layer are. Undefined: what a job without that field works on. */
interface Choices {
  readonly layer: Layer;
  readonly gridSets: readonly (string | undefined)[];
  readonly formats: readonly (string | undefined)[];
  readonly parameters: readonly ParameterSet[] | StoredSets;
  /** How they are asked for; absent: as what they are, or all. */
  readonly asked?: readonly ChosenSet[];
}

/** Those that the store holds: leftovers too, whose keys the layer may have no longer. */
type StoredSets = "kept";

/** The values of each key, of which every combination is meant. */
type Spread = readonly (readonly [string, readonly string[]])[];

interface Selected extends Pick<Choices, "asked"> {
  readonly spreads: readonly Spread[] | StoredSets;
}

/** What a request meets as it comes in. */
export interface Moment {
  readonly options: JobOptions;
  /** What an age counts back from: the same for all jobs. */
  readonly nowMs: number;
  /** Ends the planning; absent: nothing does. */
  readonly signal?: AbortSignal;
}

/** What is meant now, whatever the day. */
type SettledRequest = Omit<BatchRequest, "parameterSets"> & { readonly parameterSets?: readonly ChosenSet[] | "*" };

/** All combinations held against their layers, or the first that forbids it. */
export async function planBatch(
  { parameterSets: requestedSets, ...others }: BatchRequest,
  catalogue: Catalogue,
  at: Moment,
): Promise<Result<PlannedJobs, Refusal>> {
  const sets = typeof requestedSets === "object" ? settled(requestedSets, at.nowMs) : ok(requestedSets);
  if (!sets.ok) return sets;
  const many: SettledRequest = { ...others, ...(sets.value === undefined ? {} : { parameterSets: sets.value }) };
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
  const misplaced = placeInOneUnit(many.request, chosen);
  if (misplaced !== undefined) return refuse(misplaced);
  const planned = await planAll(many, chosen, at, empty);
  return planned.ok ? ok({ requests: planned.value, empty }) : planned;
}

/** A wildcard was used: what it stands for need not all have something in the range. */
const isOpen = ({ layers, layersAre, gridSets }: SettledRequest): boolean =>
  gridSets === "*" || (layersAre === "patterns" && layers.some((pattern) => pattern.includes("*")));

/** Several combinations are meant, however many there are. */
export const isMany = ({ layersAre, gridSets, formats, parameterSets }: BatchRequest | SettledRequest): boolean =>
  layersAre === "patterns" || [gridSets, formats, parameterSets].some((choice) => choice !== undefined);

/** Of several jobs it has to be told which. */
const ofLayer = (refusal: Refusal, { name }: Layer, many: SettledRequest): Refusal =>
  isMany(many) ? { ...refusal, details: [...(refusal.details ?? []), `The layer is ${name}.`] } : refusal;

function chosenLayers(
  { layers: asked, layersAre }: SettledRequest,
  { layers }: Catalogue,
): Result<readonly Layer[], Refusal> {
  const found = new Set<Layer>();
  for (const name of asked) {
    const matching = layersNamed(name, layersAre, layers);
    if (matching.length === 0) return refuse(unknownLayer(name));
    for (const layer of matching) found.add(layer);
  }
  return ok([...found]);
}

/** None: there is no such layer. */
export function layersNamed(
  name: string,
  layersAre: BatchRequest["layersAre"],
  layers: Catalogue["layers"],
): readonly Layer[] {
  const named = layers.get(name);
  if (named !== undefined) return [named];
  return layersAre === "names" ? [] : [...layers.values()].filter((layer) => matchesWildcard(name, layer.name));
}

const hasPlace = ({ bounds, area, tiles }: SeedRequest): boolean =>
  bounds !== undefined || area !== undefined || tiles !== undefined;

/** A truncate without a place takes all grid sets in one job. */
const isEachGridSet = ({ request, gridSets }: SettledRequest): boolean =>
  gridSets === "*" && (request.type !== "truncate" || hasPlace(request));

const lengthOf = (choice: readonly unknown[] | "*" | undefined): number =>
  typeof choice === "object" ? choice.length : 1;

/** Which combinations of parameters are meant of a layer. */
function selectedSets(
  { request, parameterSets }: SettledRequest,
  { parameterFilters: filters }: Layer,
): Result<Selected, Refusal> {
  const isTruncate = request.type === "truncate";
  if (parameterSets === undefined) return ok({ spreads: [spreadOf(request.parameters)] });
  if (parameterSets === "*") {
    if (isTruncate) return ok({ spreads: "kept" });
    const spread: [string, readonly string[]][] = [];
    for (const filter of filters) {
      const values = listedValues(filter);
      if (values === undefined) return refuse(unlisted("a list of sets", filter, "*"));
      spread.push([filter.key, values]);
    }
    const all: ChosenSet = new Map(filters.map(({ key }) => [key, { kind: "like", pattern: "*" }]));
    return ok({ spreads: [spread], asked: [all] });
  }
  if (isTruncate)
    return ok({ spreads: parameterSets.every(isPlain) ? parameterSets.map(spreadOf) : "kept", asked: parameterSets });
  const spreads: Spread[] = [];
  for (const set of parameterSets) {
    const spread = spreadAmong(set, filters);
    if (!spread.ok) return spread;
    spreads.push(spread.value);
  }
  if (spreads.some((spread) => sizeOfSpread(spread) > 0)) return ok({ spreads, asked: parameterSets });
  const missed = badField("parameterSets", "what a value that the filters list meets", parameterSets.map(setDocument));
  return refuse({ ...missed, isNothingThere: true });
}

const spreadOf = (set: ParameterSet): Spread => [...set].map(([key, value]) => [key, [value]]);

/** The listed values that a set means. */
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

/** How many tile sets a layer comes to: by arithmetic, as filters may have any number of combinations. */
function countOf(many: SettledRequest, layer: Layer, { spreads }: Selected): number {
  const { request, gridSets, formats } = many;
  const sets = spreads === "kept" ? 1 : spreads.reduce((sum, spread) => sum + sizeOfSpread(spread), 0);
  const grids = isEachGridSet(many) ? layer.gridSubsets.length : lengthOf(gridSets);
  const kinds = formats === "*" && request.type !== "truncate" ? layer.formats.length : lengthOf(formats);
  return grids * kinds * sets;
}

function choicesOf(many: SettledRequest, layer: Layer, { spreads, asked }: Selected): Choices {
  const { request, gridSets, formats } = many;
  return {
    layer,
    gridSets: isEachGridSet(many)
      ? layer.gridSubsets.map(({ gridSet }) => gridSet.id)
      : gridSets === undefined || gridSets === "*"
        ? [request.gridSetId]
        : gridSets,
    formats:
      formats === "*"
        ? request.type === "truncate"
          ? [undefined]
          : layer.formats.map(({ mimeType }) => mimeType)
        : (formats ?? [request.format]),
    parameters: spreads === "kept" ? spreads : spreads.flatMap(combinations),
    ...(asked === undefined ? {} : { asked }),
  };
}

/** Every combination of the values. */
function combinations(spread: Spread): readonly ParameterSet[] {
  let sets: readonly ParameterSet[] = [new Map()];
  for (const [key, values] of spread)
    sets = sets.flatMap((set) => values.map((value) => new Map([...set, [key, value]])));
  return sets;
}

/** Bounds have the units of one CRS, tiles the numbers of one grid set. */
function placeInOneUnit(request: SeedRequest, chosen: readonly Choices[]): Refusal | undefined {
  const { bounds, tiles } = request;
  if (bounds === undefined && tiles === undefined) return undefined;
  const subsets = chosen.flatMap(({ layer, gridSets }) => gridSets.flatMap((id) => subsetOf(request, layer, id) ?? []));
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

function subsetOf(request: SeedRequest, layer: Layer, gridSetId: string | undefined): GridSubset | undefined {
  const { srs } = request;
  if (gridSetId !== undefined) return findSubset(layer, gridSetId);
  return layer.gridSubsets.find(({ gridSet }) => srs === undefined || sameSrs(gridSet.srs, srs));
}

async function planAll(
  many: SettledRequest,
  chosen: readonly Choices[],
  at: Moment,
  empty: PlannedJobs["empty"],
): Promise<Result<readonly JobRequest[], Refusal>> {
  const { request } = many;
  const planned = new Map<string, JobRequest>();
  let nothing: Refusal | undefined;
  let numbers = 0;
  const slices = new Slices(at.signal);
  for (const choices of chosen) {
    for (const gridSetId of choices.gridSets) {
      const grid = gridSetId === undefined ? {} : { gridSetId };
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

/** The jobs of one layer in one grid set, one for each format: which tiles is worked out once. */
function* planLayer(
  request: SeedRequest,
  { layer, formats, parameters, asked }: Choices,
  { options, nowMs }: Moment,
): Generator<undefined, Result<readonly JobRequest[], Refusal>> {
  const { format: _, ...common } = request;
  const sets = parameters === "kept" ? [new Map<string, string>()] : parameters;
  const planned: JobRequest[] = [];
  for (const format of formats) {
    const one = { ...common, ...(format === undefined ? {} : { format }), parameters: sets[0] ?? new Map() };
    const [first] = planned;
    const job =
      first === undefined
        ? yield* planSeedInSteps(one, layer, options, { gridSetField: "gridSet", nowMs })
        : inFormat(first, one, layer);
    if (!job.ok) return job;
    const whole = parameters === "kept" ? ok(ofKeptSets(job.value)) : inCombinations(job.value, sets, layer);
    if (!whole.ok) return whole;
    const isOne = whole.value.parameters !== null || asked === undefined;
    planned.push(isOne ? whole.value : { ...whole.value, parametersChosen: asked.map((set) => [...set]) });
  }
  return ok(planned);
}

const ofKeptSets = (job: JobRequest): JobRequest => ({ ...job, parameters: null, parametersId: null });

function sizeOf(selection: Selection | undefined): number {
  if (selection === undefined) return 0;
  if (selection.kind === "tiles") return selection.tiles.length;
  return selection.polygons.flat().reduce((sum, ring) => sum + ring.length, 0);
}
