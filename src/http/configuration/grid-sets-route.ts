import { documentOf, fileOf } from "../../configuration/gwc/configured-object.ts";
import { fieldOf, itemsOf, type RootedDocument, textOf } from "../../configuration/gwc/document-node.ts";
import { gridSetContent, gridSetDocument } from "../../configuration/gwc/grid-set-object.ts";
import { ownContent } from "../../configuration/gwc/own-document.ts";
import { builtInGridSet, builtInGridSetIds } from "../../grid/built-in.ts";
import type { GridSet } from "../../grid/grid-set.ts";
import { findSubset } from "../../layer/layer.ts";
import { conflict, type Refusal } from "../../lib/refusal.ts";
import type { Exchange, Route, RouteOptions } from "../resource.ts";
import {
  type Change,
  configuredRoute,
  deleteObject,
  type Present,
  presentObject,
  putObject,
} from "./configured-route.ts";

type GridSetParts = Pick<RouteOptions, "configured" | "changeObject">;

/** Returns a grid set as GeoWebCache shows it: with all derived values, but with the extent as it was given. */
function shownGridSet(gridSet: GridSet, made: RootedDocument | undefined): RootedDocument {
  const { root, node } = gridSetDocument(gridSet);
  const extent = made === undefined || ownContent(made) !== undefined ? undefined : fieldOf(made.node, "extent");
  if (extent === undefined) return { root, node };
  return {
    root,
    node: { ...node, fields: node.fields.map(([name, value]) => [name, name === "extent" ? extent : value]) },
  };
}

/** GeoWebCache's number of levels of a grid set that does not define them. */
const LEVELS = 18;

/** Returns why a grid set is refused that a file may have but a request may not make. Undefined if it is accepted. */
function gridSetFault({ node }: RootedDocument): string | undefined {
  const names = itemsOf(node, "scaleNames").length;
  const listed = itemsOf(node, "resolutions").length + itemsOf(node, "scaleDenominators").length;
  const levels = listed > 0 ? listed : Number(textOf(node, "levels") ?? LEVELS);
  return names === 0 || names >= levels
    ? undefined
    : `scaleNames: expected a name for each of the ${levels} levels, got ${names}`;
}

const GRID_SETS = {
  kind: "gridSet",
  what: "a grid set",
  mismatch: "There is a mismatch between the name of the grid set in the submission and the URL you specified.",
  contentOf: gridSetContent,
  faultOf: gridSetFault,
} as const;

/** `/rest/gridsets` and `/rest/gridsets/NAME`. */
export function gridSetsRoute(parts: GridSetParts): Route {
  const { configured } = parts;
  return configuredRoute(parts, {
    segment: "gridsets",
    elements: ["gridSets", "gridSet"],
    standard: "xml",
    names: () => gridSetIds(parts),
    find: (_, name) => {
      const found = gridSetOf(parts, name);
      const made = documentOf(configured().objects, "gridSet", name);
      return found === undefined ? undefined : shownGridSet(found, made);
    },
    unknown: unknownGridSet,
    changes: {
      PUT: putGridSet,
      DELETE: deleteGridSet,
    },
  });
}

const unknownGridSet = (name: string, method: "GET" | "DELETE"): string =>
  `Failed to ${method === "GET" ? "get" : "remove"} GridSet. A GridSet with name "${name}" does not exist.`;

/** Returns the ids of the configured grid sets, then of the built-in ones. */
export function gridSetIds({ configured }: Pick<RouteOptions, "configured">): readonly string[] {
  const own = configured().gridSets.map(({ id }) => id);
  return [...own, ...builtInGridSetIds.filter((id) => !own.includes(id))];
}

export const gridSetOf = ({ configured }: Pick<RouteOptions, "configured">, name: string): GridSet | undefined =>
  configured().gridSets.find(({ id }) => id === name) ?? builtInGridSet(name);

/** Returns a grid set in force. Undefined if it does not exist. */
function present(parts: GridSetParts, name: string): Present | undefined {
  const found = gridSetOf(parts, name);
  const made = presentObject(parts, "gridSet", name);
  if (found === undefined) return made;
  if (made !== undefined && ownContent(made.document) === undefined)
    return { ...made, shown: shownGridSet(found, made.document) };
  return { document: gridSetDocument(found), isFixed: true, refusal: fixedGridSet(parts, name) };
}

/** Returns why a grid set cannot be changed over HTTP. Undefined if it can. */
export function fixedGridSet({ configured }: Pick<RouteOptions, "configured">, name: string): Refusal | undefined {
  const present = configured();
  const { gridSets, objects, isWritable } = present;
  if (documentOf(objects, "gridSet", name) !== undefined) return undefined;
  const isOwn = gridSets.some(({ id }) => id === name);
  if (isOwn && isWritable) return undefined;
  const place = fileOf(present, { kind: "gridSet", name });
  const where = isOwn ? `is defined in ${place ?? "the demo"}, and is changed there` : "is built in";
  return conflict(`The grid set ${name} ${where}.`);
}

/** Returns the layers that use a grid set. */
export const usersOf = ({ catalogue }: Pick<Exchange, "catalogue">, name: string): readonly string[] =>
  [...catalogue.layers.values()].flatMap((layer) => (findSubset(layer, name) === undefined ? [] : [layer.name]));

const putGridSet: Change<GridSetParts> = async (parts, exchange, name) => {
  const put = await putObject(parts, GRID_SETS, exchange, name, present(parts, name));
  return put.ok ? { status: put.value.isNew ? 201 : 200, body: "", detail: put.value.detail } : put;
};

const deleteGridSet: Change<GridSetParts> = async (parts, exchange, name) => {
  const removed = await deleteObject(parts, GRID_SETS, exchange, name, present(parts, name), {
    unknown: unknownGridSet(name, "DELETE"),
    users: usersOf(exchange, name),
  });
  return removed.ok ? { status: 200, body: "", detail: `${name}: removed` } : removed;
};
