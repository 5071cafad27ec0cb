import { canonicalSrs, sameSrs } from "../grid/grid-set.ts";
import type { Selection } from "../grid/selection.ts";
import type { Catalogue } from "../layer/catalogue.ts";
import { findSubset, type GridSubset, type Layer } from "../layer/layer.ts";
import { legalValuesText, listedValues } from "../layer/parameter-filter.ts";
import { badField, type Refusal, unknownLayer } from "../lib/refusal.ts";
import { ok, type Result, refuse } from "../lib/result.ts";
import { Slices } from "../lib/slices.ts";
import { matchesWildcard } from "../lib/wildcard.ts";
import type { JobRequest } from "./job.ts";
import type { JobOptions } from "./job-options.ts";
import { planSeedInSteps, planTileSet } from "./plan-job.ts";
import type { SeedRequest } from "./seed-request.ts";

type ParameterSet = ReadonlyMap<string, string>;

/** One request for the jobs of all combinations: well-formed, but not yet held against the layers. */
export interface ManyRequest {
  /** What the jobs have in common; absent choices below are its own, one for each job. */
  readonly request: SeedRequest;
  /** At least one; whether `*` in them stands for any characters. */
  readonly layers: readonly string[];
  readonly layersAre: "names" | "patterns";
  readonly gridSets?: readonly string[] | "*";
  readonly formats?: readonly string[] | "*";
  /** "*": of a truncate whatever is kept, else all that the filters list. */
  readonly parameterSets?: readonly ParameterSet[] | "*";
}

/** Jobs to be made together: all of them or none. */
export interface PlannedJobs {
  /** At least one. Those of the same tiles share ranges and selection. */
  readonly requests: readonly JobRequest[];
  /** What has no tile in the range: it was named, or a wildcard stands for it. */
  readonly empty: "refused" | "left out";
}

/** Jobs of one request at most. */
const MOST_JOBS = 1000;
/** Each job keeps its own copy of what it is limited to: 64 MiB in all, of 8 bytes each. */
const MOST_NUMBERS = 2 ** 23;

/** What the jobs of one layer are. Undefined: what a job without that field works on. */
interface Choices {
  readonly layer: Layer;
  readonly gridSets: readonly (string | undefined)[];
  readonly formats: readonly (string | undefined)[];
  /** "kept": those that the store holds, in one job. */
  readonly parameterSets: readonly (ParameterSet | "kept")[];
}

/** What a request meets as it comes in. */
export interface Moment {
  readonly options: JobOptions;
  /** What an age counts back from: the same for all jobs. */
  readonly nowMs: number;
}

/** All combinations held against their layers, or the first that forbids it. */
export async function planMany(
  many: ManyRequest,
  catalogue: Catalogue,
  at: Moment,
): Promise<Result<PlannedJobs, Refusal>> {
  const layers = chosenLayers(many, catalogue);
  if (!layers.ok) return layers;
  const chosen: Choices[] = [];
  let count = 0;
  for (const layer of layers.value) {
    const sizes = sizesOf(many, layer);
    if (!sizes.ok) return refuse(ofLayer(sizes.error, layer, many));
    count += sizes.value;
    if (count > MOST_JOBS) continue;
    chosen.push(choicesOf(many, layer));
  }
  if (count > MOST_JOBS) {
    const field = (["parameterSets", "formats", "gridSets"] as const).find((name) => many[name] !== undefined);
    return refuse(badField(field ?? "layers", `what comes to at most ${MOST_JOBS} jobs in all`, `${count} jobs`));
  }
  const misplaced = placeInOneUnit(many.request, chosen);
  if (misplaced !== undefined) return refuse(misplaced);
  const empty = isOpen(many) ? "left out" : "refused";
  const planned = await planAll(many, chosen, at, empty);
  return planned.ok ? ok({ requests: planned.value, empty }) : planned;
}

/** A wildcard was used: what it stands for need not all have something in the range. */
const isOpen = ({ layers, layersAre, gridSets }: ManyRequest): boolean =>
  gridSets === "*" || (layersAre === "patterns" && layers.some((pattern) => pattern.includes("*")));

/** Several combinations are meant, however many there are. */
export const isMany = ({ layersAre, gridSets, formats, parameterSets }: ManyRequest): boolean =>
  layersAre === "patterns" || [gridSets, formats, parameterSets].some((choice) => choice !== undefined);

/** Of several jobs it has to be told which. */
const ofLayer = (refusal: Refusal, { name }: Layer, many: ManyRequest): Refusal =>
  isMany(many) ? { ...refusal, details: [...(refusal.details ?? []), `The layer is ${name}.`] } : refusal;

function chosenLayers(
  { layers: asked, layersAre }: ManyRequest,
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
  layersAre: ManyRequest["layersAre"],
  layers: Catalogue["layers"],
): readonly Layer[] {
  const named = layers.get(name);
  if (named !== undefined) return [named];
  return layersAre === "names" ? [] : [...layers.values()].filter((layer) => matchesWildcard(name, layer.name));
}

const hasPlace = ({ bounds, area, tiles }: SeedRequest): boolean =>
  bounds !== undefined || area !== undefined || tiles !== undefined;

/** A truncate without a place takes all grid sets in one job. */
const isEachGridSet = ({ request, gridSets }: ManyRequest): boolean =>
  gridSets === "*" && (request.type !== "truncate" || hasPlace(request));

const lengthOf = (choice: readonly unknown[] | "*" | undefined): number =>
  typeof choice === "object" ? choice.length : 1;

/** How many jobs a layer comes to: by arithmetic, as filters may have any number of combinations. */
function sizesOf(many: ManyRequest, layer: Layer): Result<number, Refusal> {
  const { request, gridSets, formats, parameterSets } = many;
  const isTruncate = request.type === "truncate";
  let sets = lengthOf(parameterSets);
  if (parameterSets === "*" && !isTruncate) {
    for (const filter of layer.parameterFilters) {
      const values = listedValues(filter);
      if (values === undefined) {
        const expected = `a list of sets, as the values of ${filter.key} cannot be listed (${legalValuesText(filter)})`;
        return refuse(badField("parameterSets", expected, "*"));
      }
      sets *= values.length;
    }
  }
  const grids = isEachGridSet(many) ? layer.gridSubsets.length : lengthOf(gridSets);
  const kinds = formats === "*" && !isTruncate ? layer.formats.length : lengthOf(formats);
  return ok(grids * kinds * sets);
}

function choicesOf(many: ManyRequest, layer: Layer): Choices {
  const { request, gridSets, formats, parameterSets } = many;
  const isTruncate = request.type === "truncate";
  return {
    layer,
    gridSets: isEachGridSet(many)
      ? layer.gridSubsets.map(({ gridSet }) => gridSet.id)
      : gridSets === undefined || gridSets === "*"
        ? [request.gridSetId]
        : gridSets,
    formats:
      formats === "*"
        ? isTruncate
          ? [undefined]
          : layer.formats.map(({ mimeType }) => mimeType)
        : (formats ?? [request.format]),
    parameterSets:
      parameterSets === "*" ? (isTruncate ? ["kept"] : legalSets(layer)) : (parameterSets ?? [request.parameters]),
  };
}

/** Every combination of the values that the filters list. */
function legalSets({ parameterFilters }: Layer): readonly ParameterSet[] {
  let sets: readonly ParameterSet[] = [new Map()];
  for (const filter of parameterFilters) {
    const values = listedValues(filter) ?? [];
    sets = sets.flatMap((set) => values.map((value) => new Map([...set, [filter.key, value]])));
  }
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
  many: ManyRequest,
  chosen: readonly Choices[],
  at: Moment,
  empty: PlannedJobs["empty"],
): Promise<Result<readonly JobRequest[], Refusal>> {
  const { request } = many;
  const planned = new Map<string, JobRequest>();
  let nothing: Refusal | undefined;
  let numbers = 0;
  const slices = new Slices();
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
        const identity = JSON.stringify([job.layer, job.gridSet, job.format, job.parametersId]);
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

/** The jobs of one layer in one grid set: which tiles is worked out once. */
function* planLayer(
  request: SeedRequest,
  { layer, formats, parameterSets }: Choices,
  { options, nowMs }: Moment,
): Generator<undefined, Result<readonly JobRequest[], Refusal>> {
  let base: JobRequest | undefined;
  const planned: JobRequest[] = [];
  for (const format of formats) {
    for (const set of parameterSets) {
      const { format: _, ...common } = request;
      const parameters = set === "kept" ? new Map<string, string>() : set;
      const one = { ...common, ...(format === undefined ? {} : { format }), parameters };
      const job =
        base === undefined
          ? yield* planSeedInSteps(one, layer, options, { gridSetField: "gridSet", nowMs })
          : planTileSet(base, one, layer);
      if (!job.ok) return job;
      base ??= job.value;
      planned.push(set === "kept" ? { ...job.value, parameters: null, parametersId: null } : job.value);
    }
  }
  return ok(planned);
}

function sizeOf(selection: Selection | undefined): number {
  if (selection === undefined) return 0;
  if (selection.kind === "tiles") return selection.tiles.length;
  return selection.polygons.flat().reduce((sum, ring) => sum + ring.length, 0);
}
