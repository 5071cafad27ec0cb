import type { Field } from "../../body/field.ts";

/** The content of an older file, converted to the newest version of the schema. */
export interface Upgraded {
  readonly root: Field;
  /** Grid sets that layers of older files define. */
  readonly gridSets: readonly Field[];
  readonly notes: readonly string[];
}

/** The last version in which each keyword is an element `keyword`. */
const KEYWORDS_UNTIL = [1, 6, 0];

const WORLDS: Readonly<Record<string, readonly number[]>> = {
  4326: [-180, -90, 180, 90],
  900913: [-20037508.34, -20037508.34, 20037508.34, 20037508.34],
};

/** Converts a document of an older version of the schema to the newest version. */
export function upgraded(root: Field, version: string): Upgraded {
  const gridSets: Field[] = [];
  const notes: string[] = [];
  const withKeywords = isAtMost(version, KEYWORDS_UNTIL) ? renamed(root, "keyword", "string") : root;
  const children = withKeywords.children.map((section) =>
    section.name === "layers"
      ? { ...section, children: section.children.map((layer) => withSubsets(layer, gridSets, notes)) }
      : section,
  );
  return { root: { ...withKeywords, children }, gridSets, notes };
}

function isAtMost(version: string, most: readonly number[]): boolean {
  const parts = version.split(".").map(Number);
  for (const [i, number] of most.entries()) {
    const part = parts[i] ?? 0;
    if (part !== number) return part < number;
  }
  return true;
}

function renamed(field: Field, from: string, to: string): Field {
  const children = field.children.map((child) => renamed(child, from, to));
  return { ...field, name: field.name === from ? to : field.name, children };
}

const childOf = (field: Field | undefined, name: string): Field | undefined =>
  field?.children.find((child) => child.name === name);

/** Returns a layer with `gridSubsets` in place of `grids`, the element of schemas before 1.2.2. */
function withSubsets(layer: Field, gridSets: Field[], notes: string[]): Field {
  const grids = childOf(layer, "grids");
  if (grids === undefined || childOf(layer, "gridSubsets") !== undefined) return layer;
  const subsets = grids.children.flatMap((entry) => {
    const grid = childOf(entry, "grid") ?? entry;
    const number = childOf(childOf(grid, "srs") ?? childOf(entry, "srs"), "number")?.text.trim();
    return number === undefined ? [] : [subsetOf(grid, number, gridSets, notes)];
  });
  const gridSubsets = parent(grids, "gridSubsets", subsets);
  return { ...layer, children: layer.children.map((child) => (child === grids ? gridSubsets : child)) };
}

function subsetOf(grid: Field, number: string, gridSets: Field[], notes: string[]): Field {
  const name = `EPSG:${number === "3857" ? "900913" : number}`;
  const [data, bounds] = [childOf(grid, "dataBounds"), childOf(grid, "gridBounds")];
  const resolutions = childOf(grid, "resolutions");
  const [start, stop] = [childOf(grid, "zoomStart"), childOf(grid, "zoomStop")];
  const world = WORLDS[name.slice(5)];
  const corners = childOf(bounds, "coords")?.children.map(({ text }) => Number(text)) ?? world;
  const isWorld = resolutions === undefined && world?.every((value, i) => corners?.[i] === value) === true;
  if (!isWorld && bounds !== undefined) addGridSet(name, number, { grid, bounds, resolutions, stop }, gridSets, notes);
  const extent = data ?? bounds;
  return parent(grid, "gridSubset", [
    leaf(grid, "gridSetName", name),
    ...(extent === undefined ? [] : [{ ...extent, name: "extent" }]),
    ...(start === undefined || resolutions !== undefined ? [] : [start]),
    ...(stop === undefined || resolutions !== undefined ? [] : [stop]),
  ]);
}

interface OldGrid {
  readonly grid: Field;
  readonly bounds: Field;
  readonly resolutions: Field | undefined;
  readonly stop: Field | undefined;
}

function addGridSet(
  name: string,
  number: string,
  { grid, bounds, resolutions, stop }: OldGrid,
  gridSets: Field[],
  notes: string[],
): void {
  const levels = stop === undefined ? 31 : Number(stop.text) + 1;
  const made = parent(grid, "gridSet", [
    leaf(grid, "name", name),
    parent(grid, "srs", [leaf(grid, "number", number)]),
    { ...bounds, name: "extent" },
    resolutions ?? leaf(grid, "levels", String(levels)),
  ]);
  const before = gridSets.find((one) => childOf(one, "name")?.text === name);
  if (before === undefined) gridSets.push(made);
  else if (shape(before) !== shape(made))
    notes.push(`line ${grid.line}: a second grid of ${name} that differs from the first has the first one's levels`);
}

const shape = (field: Field): string => `${field.name}(${field.text.trim()}${field.children.map(shape).join(" ")})`;

const parent = ({ line, column }: Field, name: string, children: readonly Field[]): Field => ({
  name,
  kind: "element",
  children,
  text: "",
  line,
  column,
});

const leaf = (at: Field, name: string, text: string): Field => ({ ...parent(at, name, []), text });
