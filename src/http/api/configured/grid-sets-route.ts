import { documentOf, fileOf } from "../../../configuration/gwc/configured-object.ts";
import { gridSetContent } from "../../../configuration/gwc/grid-set-object.ts";
import type { GridSet } from "../../../grid/grid-set.ts";
import { gridSetDocument, gridSetTag } from "../../../grid/grid-set-document.ts";
import { findSubset } from "../../../layer/layer.ts";
import { ok } from "../../../lib/result.ts";
import { fixedGridSet, gridSetIds, gridSetOf } from "../../configuration/grid-sets-route.ts";
import type { RouteOptions } from "../../resource.ts";
import { operation } from "../api-operation.ts";
import type { Documents } from "../documents/documents.ts";
import { type ChangedKind, objectOperations } from "./object-changes.ts";

type Configured = Pick<RouteOptions, "configured">;

/** Returns the names of the layers that use a grid set. */
const usersOf = ({ configured }: Configured, id: string): readonly string[] =>
  configured().layers.flatMap((layer) => (findSubset(layer, id) === undefined ? [] : [layer.name]));

function originOf({ configured }: Configured, id: string): "built-in" | "file" | "http" {
  if (documentOf(configured().objects, "gridSet", id) !== undefined) return "http";
  return configured().gridSets.some((gridSet) => gridSet.id === id) ? "file" : "built-in";
}

function listedGridSets(parts: Configured): Documents["GridSets"]["gridSets"] {
  const counts = new Map<string, number>();
  for (const { gridSubsets } of parts.configured().layers)
    for (const { gridSet } of gridSubsets) counts.set(gridSet.id, (counts.get(gridSet.id) ?? 0) + 1);
  return gridSetIds(parts).flatMap((id) => {
    const found = gridSetOf(parts, id);
    if (found === undefined) return [];
    const { title = null, srs } = found;
    return [{ id, title, srs, origin: originOf(parts, id), layers: counts.get(id) ?? 0 }];
  });
}

function gridSetKind(parts: Pick<RouteOptions, "configured">): ChangedKind<GridSet, "GridSet"> {
  const shown = (gridSet: GridSet) => ({ ...gridSetDocument(gridSet) });
  return {
    kind: "gridSet",
    what: "grid set",
    nameKey: "id",
    find: (id) => gridSetOf(parts, id),
    unknown: (id) => ({ code: "not_found", message: `Unknown grid set: ${id}` }),
    shown,
    whole: shown,
    made: gridSetContent,
    tag: gridSetTag,
    fixed: (id) => fixedGridSet(parts, id),
    describe: (gridSet, { editable }) => {
      const { id } = gridSet;
      const origin = originOf(parts, id);
      const configuredAt =
        origin === "file" ? (fileOf(parts.configured(), { kind: "gridSet", name: id }) ?? null) : null;
      return { ...gridSetDocument(gridSet), origin, editable, configuredAt, layers: usersOf(parts, id) };
    },
    users: (_, id) => usersOf(parts, id),
  };
}

export const gridSetOperations = [
  operation(
    "GET /grid-sets",
    "listGridSets",
    "Lists the configured grid sets, then the built-in ones",
    { answer: "GridSets" },
    async (parts) => ok({ gridSets: listedGridSets(parts) }),
  ),
  ...objectOperations(
    ["grid-sets", "name"],
    "GridSet",
    { summary: "Returns one grid set, as the configuration file has it" },
    gridSetKind,
  ),
];
