import { asGridSetName, asZoom, type GridSetName, type Zoom } from "../../../grid/grid-set.ts";
import { asLayerName, asParametersId, type LayerName, type ParametersId } from "../../../layer/tile-set.ts";

/**
 * The names of generations, which determine the readable keys of a bucket. A truncation gives a scope a new name, which
 * no earlier tile has. Names are unique, not counted: after a restore of the database, a counter would begin again and
 * make old tiles readable.
 */
export interface Generations {
  readonly version: 1;
  /**
   * The current names. The name of a level overrides the name of its pyramid, which overrides the name of its layer.
   * Without a name (""), keys are GWC's keys.
   */
  readonly names: readonly Named[];
  /** The names that a truncation has set aside for its undo. */
  readonly asides: readonly Aside[];
  /** The names whose tiles are to be deleted. */
  readonly retired: readonly Retired[];
}

/** A layer, a pyramid, or a level of a pyramid. */
export type Scope =
  | readonly [layer: LayerName]
  | readonly [layer: LayerName, gridSet: GridSetName, parametersId: ParametersId]
  | readonly [layer: LayerName, gridSet: GridSetName, parametersId: ParametersId, z: Zoom];

export interface Named {
  readonly scope: Scope;
  readonly name: string;
}

export interface Aside {
  readonly id: string;
  /** The scope that was truncated. */
  readonly scope: Scope;
  /** The names of the scope before the truncation. The first is the name of the scope itself. */
  readonly names: readonly Named[];
}

export interface Retired extends Named {
  readonly sinceMs: number;
  /** Whether the tiles have been deleted once. A second deletion follows, for puts that arrived late. */
  readonly swept: boolean;
}

export const NO_GENERATIONS: Generations = { version: 1, names: [], asides: [], retired: [] };

/**
 * The second sweep begins this long after the truncation, when no put that began before the truncation can still
 * arrive.
 */
const LATE_MS = 3_600_000;

const keyOf = (scope: Scope): string => JSON.stringify(scope);

/** Returns whether a scope equals `outer` or lies within it. */
const isWithin = (scope: Scope, outer: Scope): boolean => outer.every((part, i) => scope[i] === part);

/** Returns the name of the generation of a level. */
export type NameOf = (layer: LayerName, gridSet: GridSetName, parametersId: ParametersId, z: Zoom) => string;

/** Returns a function that looks up the name of a level. */
export function nameIn(names: readonly Named[]): NameOf {
  const byScope = new Map(names.map(({ scope, name }) => [keyOf(scope), name]));
  return (layer, gridSet, parametersId, z) =>
    byScope.get(keyOf([layer, gridSet, parametersId, z])) ??
    byScope.get(keyOf([layer, gridSet, parametersId])) ??
    byScope.get(keyOf([layer])) ??
    "";
}

/** Returns whether a level within a scope has its own name. */
export const hasNamedLevels = (names: readonly Named[], scope: Scope): boolean =>
  names.some((named) => named.scope.length > scope.length && isWithin(named.scope, scope));

/** Returns the name of the scope, followed by the names of the parts of it that have a name. */
function namesWithin(names: readonly Named[], scope: Scope): readonly Named[] {
  const around = names
    .filter((named) => isWithin(scope, named.scope))
    .sort((a, b) => b.scope.length - a.scope.length)[0];
  const inside = names.filter((named) => named.scope.length > scope.length && isWithin(named.scope, scope));
  return [{ scope, name: around?.name ?? "" }, ...inside];
}

const without = (names: readonly Named[], scope: Scope): readonly Named[] =>
  names.filter((named) => !isWithin(named.scope, scope));

const retire = (names: readonly Named[], nowMs: number): readonly Retired[] =>
  names.map(({ scope, name }) => ({ scope, name, sinceMs: nowMs, swept: false }));

/**
 * Returns a name that no generation has had before.
 * @param random four characters of base 36
 */
export const newName = (nowMs: number, random: string): string => `${Math.floor(nowMs).toString(36)}${random}`;

/**
 * Gives scopes a new name.
 * @param keep whether their old names are set aside under the id of the truncation. If the same truncation has already
 * set a scope aside, the scope only loses the tiles stored since then.
 */
export function truncated(
  before: Generations,
  id: string,
  scopes: readonly Scope[],
  options: { readonly remains: "keep" | "reclaim"; readonly name: string; readonly nowMs: number },
): Generations {
  let { names, asides, retired } = before;
  for (const scope of scopes) {
    const old = namesWithin(names, scope);
    const isKept = asides.some((aside) => aside.id === id && keyOf(aside.scope) === keyOf(scope));
    if (options.remains === "keep" && !isKept) asides = [...asides, { id, scope, names: old }];
    else retired = [...retired, ...retire(old, options.nowMs)];
    names = [...without(names, scope), { scope, name: options.name }];
  }
  return { ...before, names, asides, retired };
}

/** Restores the names that a truncation has set aside. Retires the current names of these scopes. */
export function restored(before: Generations, id: string, nowMs: number): Generations {
  let { names, retired } = before;
  for (const { scope, names: old } of before.asides.filter((aside) => aside.id === id)) {
    retired = [...retired, ...retire(namesWithin(names, scope), nowMs)];
    names = [...without(names, scope), ...old];
  }
  return { ...before, names, retired, asides: before.asides.filter((aside) => aside.id !== id) };
}

/** Retires the names that a truncation has set aside, so that their tiles become remains. */
export function discarded(before: Generations, id: string, nowMs: number): Generations {
  const given = before.asides.filter((aside) => aside.id === id);
  if (given.length === 0) return before;
  const retired = [...before.retired, ...given.flatMap(({ names }) => retire(names, nowMs))];
  return { ...before, asides: before.asides.filter((aside) => aside.id !== id), retired };
}

/** Returns the retired names whose tiles are due for deletion. */
export const dueNames = ({ retired }: Generations, nowMs: number): readonly Retired[] =>
  retired.filter(({ swept, sinceMs }) => !swept || nowMs >= sinceMs + LATE_MS);

/** Returns the time in ms until retired names are due. Undefined if there are no retired names. */
export function nextDueMs({ retired }: Generations, nowMs: number): number | undefined {
  if (retired.length === 0) return undefined;
  return Math.max(0, Math.min(...retired.map((one) => (one.swept ? one.sinceMs + LATE_MS - nowMs : 0))));
}

/** Records that a sweep has deleted the tiles of retired names. Removes the names that no put can reach any more. */
export function swept(before: Generations, done: readonly Named[], beganMs: number): Generations {
  const keys = new Set(done.map(({ scope, name }) => `${name} ${keyOf(scope)}`));
  const retired = before.retired.flatMap((one) => {
    if (!keys.has(`${one.name} ${keyOf(one.scope)}`) || one.sinceMs > beganMs) return [one];
    return beganMs >= one.sinceMs + LATE_MS ? [] : [{ ...one, swept: true }];
  });
  return { ...before, retired };
}

/** Returns whether neither a reader nor an undo needs the tiles of a level under a name. */
export function isUnreadable(
  { names, asides }: Generations,
  level: {
    readonly layer: LayerName;
    readonly gridSet: GridSetName;
    readonly parametersId: ParametersId;
    readonly z: Zoom;
  },
  name: string,
): boolean {
  const { layer, gridSet, parametersId, z } = level;
  if (nameIn(names)(layer, gridSet, parametersId, z) === name) return false;
  return !asides.some(
    (aside) =>
      isWithin([layer, gridSet, parametersId, z], aside.scope) &&
      nameIn(aside.names)(layer, gridSet, parametersId, z) === name,
  );
}

/** Returns the scope of a name made by `scopeName`. @throws SyntaxError */
export function parseScope(name: string): Scope {
  const parts: unknown = JSON.parse(name);
  if (Array.isArray(parts)) {
    const [layer, gridSet, parametersId, z]: unknown[] = parts;
    if (typeof layer === "string" && parts.length === 1) return [asLayerName(layer)];
    if (typeof layer === "string" && typeof gridSet === "string" && typeof parametersId === "string") {
      const pyramid = [asLayerName(layer), asGridSetName(gridSet), asParametersId(parametersId)] as const;
      if (parts.length === 3) return pyramid;
      if (typeof z === "number") return [...pyramid, asZoom(z)];
    }
  }
  throw new SyntaxError(`${name} is no name of a truncation`);
}

export const scopeName = keyOf;
