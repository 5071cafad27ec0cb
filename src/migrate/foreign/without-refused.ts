import { type Content, isMap } from "../../lib/is-map.ts";
import { problemsOfText } from "../problems-of-text.ts";
import { type ForeignConfiguration, type ForeignLayer, foreignYaml } from "./foreign-configuration.ts";
import { placed } from "./origins.ts";

/** Each round removes at least one object. Real files need one or two rounds. */
const MOST_ROUNDS = 50;

/**
 * Returns a configuration without the objects that a server would refuse, so that one wrong layer or grid set does not
 * affect others. Adds the reasons to the omitted objects.
 */
export async function withoutRefused(program: string, taken: ForeignConfiguration): Promise<ForeignConfiguration> {
  let rest = taken;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const env = Object.fromEntries(rest.variables.map((name) => [name, "secret"]));
    const problems = await problemsOfText(foreignYaml(program, rest), env);
    const next = withoutObjects(rest, problems);
    if (next === undefined) return rest;
    rest = next;
  }
  return rest;
}

interface Refused {
  readonly path: string;
  readonly message: string;
}

/** Returns a configuration without the objects that have problems. Undefined if no object has a problem. */
function withoutObjects(taken: ForeignConfiguration, problems: readonly Refused[]): ForeignConfiguration | undefined {
  const badGrids = reasonsBy(/^gridSets\[(\d+)\]/, problems);
  // The layers are checked again without these grid sets.
  if (badGrids.size > 0) return withoutGridSets(taken, badGrids);
  const badLayers = reasonsBy(/^layers\[(\d+)\]/, problems);
  const information = problems.find(({ path }) => path.startsWith("serviceInformation"));
  if (badLayers.size === 0) {
    if (information === undefined || taken.serviceInformation === undefined) return undefined;
    const why = `the description of the service: ${information.message}`;
    return { ...taken, serviceInformation: undefined, leftOut: [...taken.leftOut, why] };
  }
  const leftOut: string[] = [];
  const layers = taken.layers.flatMap((layer, i): readonly ForeignLayer[] => {
    const why = badLayers.get(i);
    if (why === undefined) return [layer];
    const subsets = reasonsBy(new RegExp(`^layers\\[${i}\\]\\.gridSubsets\\[(\\d+)\\]`), problems);
    const all = layer.content["gridSubsets"];
    const names = Array.isArray(all) ? [...subsets.keys()].map((at) => gridSetOf(all[at])) : [];
    const content = without(new Set(names), layer.content);
    if (names.length === 0 || isEmptyList(content["gridSubsets"])) {
      leftOut.push(leftOutLayer(layer, why));
      return [];
    }
    for (const [at, reason] of subsets)
      leftOut.push(leftOutLayer(layer, `without ${String(Array.isArray(all) ? gridSetOf(all[at]) : "")}: ${reason}`));
    return [{ ...layer, content }];
  });
  return { ...taken, layers, leftOut: [...taken.leftOut, ...leftOut] };
}

/** Returns the first problem of each item of a list, by its index. */
function reasonsBy(pattern: RegExp, problems: readonly Refused[]): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  for (const { path, message } of problems) {
    const index = pattern.exec(path)?.[1];
    if (index !== undefined && !found.has(Number(index)))
      found.set(Number(index), message.replace(/^\w+\[\d+\]\.?/, ""));
  }
  return found;
}

function withoutGridSets(taken: ForeignConfiguration, bad: ReadonlyMap<number, string>): ForeignConfiguration {
  const removed = new Set([...bad.keys()].map((i) => taken.gridSets[i]?.["id"]));
  const layers = taken.layers.map((one) => ({ ...one, content: without(removed, one.content) }));
  const isLeft = ({ content }: ForeignLayer): boolean => !isEmptyList(content["gridSubsets"]);
  return {
    ...taken,
    gridSets: taken.gridSets.filter((_, i) => !bad.has(i)),
    layers: layers.filter(isLeft),
    leftOut: [
      ...taken.leftOut,
      ...[...bad].map(([i, why]) => `the grid ${String(taken.gridSets[i]?.["id"])}: ${why}`),
      ...layers.filter((one) => !isLeft(one)).map((one) => leftOutLayer(one, "none of its grids can be served")),
    ],
  };
}

const gridSetOf = (subset: unknown): unknown => (isMap(subset) ? subset["gridSet"] : undefined);

const leftOutLayer = ({ content, origin }: ForeignLayer, why: string): string =>
  `the layer ${String(content["name"])}: ${why}${placed(origin)}`;

const isEmptyList = (list: unknown): boolean => Array.isArray(list) && list.length === 0;

/** Returns the content of a layer without the parts that name some grid sets. */
function without(gridSets: ReadonlySet<unknown>, content: Content): Content {
  if (gridSets.size === 0) return content;
  const isLeft = (item: unknown): boolean => !isMap(item) || !gridSets.has(item["gridSet"]);
  const left = (list: unknown): unknown => (Array.isArray(list) ? list.filter(isLeft) : list);
  const { tilesOnDisk, ...others } = content;
  const tiles = left(tilesOnDisk);
  return {
    ...others,
    ...(content["gridSubsets"] === undefined ? {} : { gridSubsets: left(content["gridSubsets"]) }),
    ...(tiles === undefined || isEmptyList(tiles) ? {} : { tilesOnDisk: tiles }),
  };
}
